import torch
from torch import nn

model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
grads = {}
model[0].register_full_backward_hook(lambda m, gi, go: grads.__setitem__("first", go[0].norm().item()))
for x, y in loader:
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    norms = [p.grad.norm().item() for p in model.parameters() if p.grad is not None]
    optimizer.step()
    print(loss.item(), sum(norms), loss.detach().cpu().numpy())
