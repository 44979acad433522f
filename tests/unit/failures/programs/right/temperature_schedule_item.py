import torch
import torch.nn as nn

model = nn.Linear(8, 4)
opt = torch.optim.Adam(model.parameters())
temperature = torch.tensor(5.0)
for step in range(10):
    tau = temperature.item()
    loss = nn.functional.cross_entropy(model(torch.randn(8, 8)) / tau, torch.randint(0, 4, (8,)))
    opt.zero_grad()
    loss.backward()
    opt.step()
    temperature = (temperature * 0.9).clamp(min=0.5)
