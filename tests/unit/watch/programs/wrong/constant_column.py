import torch
import torch.nn as nn
torch.manual_seed(0)
x = torch.randn(32, 4)
x[:, 2] = 1.0
x = (x - x.mean(0)) / x.std(0)  #! 9
y = torch.randn(32, 1)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(5):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()
