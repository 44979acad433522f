import torch
from torch import nn


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))

    def forward(self, x):
        return self.layers(x)


torch.manual_seed(0)
policy = Policy()
opt = torch.optim.SGD(policy.parameters(), lr=0.1)
x = torch.randn(12, 4)
with torch.no_grad():
    y = torch.distributions.Categorical(probs=policy(x)).sample()
for _ in range(4):
    loss = nn.functional.cross_entropy(policy(x), y)  #! 25
    opt.zero_grad()
    loss.backward()
    opt.step()
