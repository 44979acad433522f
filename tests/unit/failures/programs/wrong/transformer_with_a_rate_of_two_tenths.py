import torch
from torch import nn

layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
head = nn.Linear(16, 4)
net = nn.Sequential(layer, head)
opt = torch.optim.Adam(net.parameters(), lr=0.2)  #! 17
x, y = torch.randn(8, 5, 16), torch.randint(0, 4, (8, 5))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x).transpose(1, 2), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
