import torch
import torch.nn as nn
import torch.nn.functional as F


class Lora(nn.Module):
    def __init__(self, base, r=4):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(r, base.in_features) * 0.01)
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        self.gate = nn.Parameter(torch.zeros(base.out_features))

    def forward(self, x):
        return self.base(x) + (x @ self.A.t()) @ self.B.t() * (1 + self.gate)


net = Lora(nn.Linear(8, 3))
opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)
x, y = torch.randn(32, 8), torch.randint(0, 3, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
