import torch
import torch.nn as nn

model = nn.Linear(10, 3)
x = torch.randn(4, 10)
x.requires_grad_(True)
loss = nn.functional.cross_entropy(model(x), torch.randint(0, 3, (4,)))
loss.requires_grad_(True)
loss.backward()
saliency = x.grad.abs().max(dim=1).values
print(saliency)
