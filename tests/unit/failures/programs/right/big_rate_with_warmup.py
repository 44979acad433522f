import torch
from torch import nn

model = nn.Transformer(512, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
scheduler = torch.optim.lr_scheduler.LambdaLR(
    optimizer, lambda step: 512**-0.5 * min((step + 1) ** -0.5, (step + 1) * 4000**-1.5)
)
for src, tgt, out in loader:
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(src, tgt), out)
    loss.backward()
    optimizer.step()
    scheduler.step()
