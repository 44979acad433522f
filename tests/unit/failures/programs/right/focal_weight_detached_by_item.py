import torch
import torch.nn as nn

model = nn.Linear(10, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(5):
    x, y = torch.randn(32, 10), torch.randint(0, 2, (32, 1)).float()
    out = model(x)
    positives = float(y.sum())
    pos_weight = torch.tensor([(y.numel() - positives) / max(positives, 1.0)])
    loss = nn.functional.binary_cross_entropy_with_logits(out, y, pos_weight=pos_weight)
    opt.zero_grad()
    loss.backward()
    opt.step()
