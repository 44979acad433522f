import torch
import torch.nn as nn


def compute_loss(model, x, y):
    out = model(x)
    loss = nn.functional.cross_entropy(out, y).item()  #! 13
    return loss


model = nn.Linear(5, 3)
opt = torch.optim.Adam(model.parameters())
for _ in range(5):
    loss = torch.tensor(compute_loss(model, torch.randn(8, 5), torch.randint(0, 3, (8,))))
    loss.requires_grad = True  #! 4
    opt.zero_grad()
    loss.backward()
    opt.step()
