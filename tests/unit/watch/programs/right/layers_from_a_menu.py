import torch
from torch import nn

torch.manual_seed(1)
MENU = {
    "none": lambda: nn.Identity(),
    "gate": lambda: nn.Sigmoid(),
    "share": lambda: nn.Softmax(dim=1),
}
options = {"widths": [5, 12, 8, 3], "after": ["gate", "share", "none"]}
layers = []
for before, width, name in zip(options["widths"], options["widths"][1:], options["after"]):
    layers += [nn.Linear(before, width), MENU[name]()]
net = nn.Sequential(*layers)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for x in torch.randn(20, 24, 5):
    loss = nn.functional.cross_entropy(net(x), x[:, :3].argmax(1))
    opt.zero_grad()
    loss.backward()
    opt.step()
