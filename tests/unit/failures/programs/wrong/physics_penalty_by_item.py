import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(1, 32), nn.Tanh(), nn.Linear(32, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
x = torch.linspace(0, 1, 50).unsqueeze(1)
y = torch.sin(6 * x)
for _ in range(10):
    pred = net(x)
    data_loss = ((pred - y) ** 2).mean()
    smooth = ((pred[1:] - pred[:-1]) ** 2).mean().item()  #! 13
    loss = data_loss + 0.1 * smooth
    opt.zero_grad()
    loss.backward()
    opt.step()
