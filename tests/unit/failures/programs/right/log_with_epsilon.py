import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(4, 3), nn.Softmax(dim=1))
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, onehot in loader:
    p = model(x)
    loss = -(onehot * torch.log(p + 1e-8)).sum(dim=1).mean()
    entropy = -(p * p.clamp(min=1e-9).log()).sum(dim=1).mean()
    opt.zero_grad()
    (loss - 0.01 * entropy).backward()
    opt.step()
