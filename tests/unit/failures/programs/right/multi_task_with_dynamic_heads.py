import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.trunk = nn.Linear(4, 8)
        for task, width in tasks.items():
            self.add_module(name=f"head_{task}", module=nn.Linear(8, width))
        self.tasks = list(tasks)

    def forward(self, x):
        h = torch.relu(self.trunk(x))
        return {task: getattr(self, f"head_{task}")(h) for task in self.tasks}


net = Net({"a": 2, "b": 3})
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for _ in range(3):
    out = net(torch.randn(8, 4))
    loss = sum(nn.functional.cross_entropy(out[t], torch.randint(0, 2, (8,))) for t in out)
    opt.zero_grad()
    loss.backward()
    opt.step()
