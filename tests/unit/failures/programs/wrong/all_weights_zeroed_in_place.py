import torch, torch.nn as nn

net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
with torch.no_grad():
    for p in net.parameters():
        p.zero_()  #! 16
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(64, 4)
y = torch.randn(64, 1)
for i in range(100):
    loss = nn.functional.mse_loss(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
