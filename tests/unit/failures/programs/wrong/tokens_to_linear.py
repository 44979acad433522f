import torch
import torch.nn as nn

x = torch.randint(0, 255, (64, 28))  #! 22
y = torch.randint(0, 10, (64,))
model = nn.Sequential(nn.Linear(28, 32), nn.ReLU(), nn.Linear(32, 10))
opt = torch.optim.Adam(model.parameters())
for _ in range(20):
    opt.zero_grad()
    nn.CrossEntropyLoss()(model(x), y).backward()
    opt.step()
