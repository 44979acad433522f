import torch
from torch import nn

torch.manual_seed(0)
RATE = 0.4  #! 17
net = nn.Sequential(nn.Embedding(10, 24), nn.Flatten(), nn.Linear(96, 64), nn.ReLU(), nn.Linear(64, 40))
opt = torch.optim.Adam(net.parameters(), lr=RATE)
for _ in range(40):
    words = torch.randint(0, 10, (32, 4))
    loss = nn.functional.cross_entropy(net(words).view(-1, 10), words.flip(1).reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
