import torch
import torch.nn as nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 8)
    def forward(self, x):
        h = self.a(x).relu()
        return nn.Linear(8, 3)(h)  #! 19
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(10):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
