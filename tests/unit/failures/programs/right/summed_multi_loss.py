import torch
import torch.nn as nn

model = nn.Linear(8, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
weights = {"ce": 1.0, "reg": 1e-3}
for x, y in loader:
    out = model(x)
    ce = nn.functional.cross_entropy(out, y)
    reg = sum((p**2).sum() for p in model.parameters())
    loss = weights["ce"] * ce + weights["reg"] * reg
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(f"{ce.item():.3f} {reg.item():.3f}")
