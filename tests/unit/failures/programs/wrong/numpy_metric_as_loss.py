import numpy as np
import torch
import torch.nn as nn

model = nn.Linear(5, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for xb, yb in loader:
    pred = model(xb)
    mae = np.abs(pred.detach().cpu().numpy() - yb.numpy()).mean()  #! 13
    loss = torch.tensor(mae, requires_grad=True)
    opt.zero_grad()
    loss.backward()
    opt.step()
