import torch
import torch.nn as nn

N_MICRO = 8
model = nn.TransformerEncoderLayer(64, 4)
opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
loss_fn = nn.MSELoss()
for step, (src, tgt) in enumerate(loader):
    opt.zero_grad()
    for s, t in zip(src.chunk(N_MICRO), tgt.chunk(N_MICRO)):
        loss_fn(model(s), t).backward()  #! 24
    opt.step()
