from functools import partial

import torch
import torch.nn.functional as F

loss_fn = partial(F.binary_cross_entropy_with_logits, reduction="none")
model = torch.nn.Linear(12, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = loss_fn(model(x).squeeze(1), y)  #! 3
    opt.zero_grad()
    loss.backward()
    opt.step()
