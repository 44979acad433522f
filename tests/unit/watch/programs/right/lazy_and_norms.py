import torch
import torch.nn as nn
from torch.nn.utils import parametrizations
torch.manual_seed(0)
net = nn.Sequential(nn.LazyLinear(16), nn.LayerNorm(16), nn.GELU(), parametrizations.weight_norm(nn.Linear(16, 16)), nn.SiLU(),
                    parametrizations.spectral_norm(nn.Linear(16, 3)))
net(torch.randn(2, 5))
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-2, total_steps=20)
for _ in range(20):
    loss = nn.functional.cross_entropy(net(torch.randn(16, 5)), torch.randint(3, (16,)), label_smoothing=0.1)
    opt.zero_grad(); loss.backward(); opt.step(); sched.step()
