import torch
import torch.nn as nn

model = nn.Linear(6, 3)
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(30, 6), torch.randint(0, 3, (30,))
for _ in range(5):
    logits = model(x)
    preds = logits.argmax(dim=1)  #! 21
    loss = (preds != y).float().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
