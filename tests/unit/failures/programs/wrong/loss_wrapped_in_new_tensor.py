import torch
import torch.nn as nn

model = nn.Linear(10, 2)
optimizer = torch.optim.Adam(model.parameters())
for x, y in loader:
    optimizer.zero_grad()
    logits = model(x)
    per_sample = nn.functional.cross_entropy(logits, y, reduction="none")
    loss = torch.tensor(per_sample.mean(), requires_grad=True)  #! 4|13
    loss.backward()
    optimizer.step()
