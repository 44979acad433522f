import torch
from torch import nn
from torch.nn.utils import parametrizations
torch.manual_seed(39)
critic = nn.Sequential(parametrizations.spectral_norm(nn.Linear(2, 16)), nn.LeakyReLU(0.2), parametrizations.weight_norm(nn.Linear(16, 1)))
opt = torch.optim.RMSprop(critic.parameters(), lr=1e-3)
for _ in range(15):
    a, b = torch.randn(32, 2), torch.randn(32, 2) + 1
    loss = critic(b).mean() - critic(a).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
