import torch
import torch.nn as nn
torch.manual_seed(0)
# an image is learned; the net has gradients that nobody uses
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
img = torch.zeros(1, 4, requires_grad=True)
opt = torch.optim.Adam([img], lr=0.05)
for _ in range(10):
    loss = -net(img)[0, 1]
    opt.zero_grad()
    loss.backward()
    opt.step()
