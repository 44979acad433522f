import torch
from torch import nn

torch.manual_seed(1)
ENDINGS = {
    "plain": lambda: nn.Identity(),
    "sigmoid": lambda: nn.Sigmoid(),
}
options = {
    "hidden": 12,
    "ending": "sigmoid",  #! 25
    "steps": 20,
}
net = nn.Sequential(
    nn.Linear(5, options["hidden"]), nn.Tanh(), nn.Linear(options["hidden"], 1), ENDINGS[options["ending"]]()
)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for x in torch.randn(options["steps"], 24, 5):
    loss = nn.functional.binary_cross_entropy_with_logits(net(x), (x[:, :1] > 0).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
