import torch
from torch import nn

torch.manual_seed(4)
pictures = (torch.rand(96, 20) > 0.5).float()


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(20, 6)
        self.decode = nn.Linear(3, 20)

    def bound(self, x):
        mean, log_var = self.encode(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (log_var / 2).exp()
        logits = self.decode(code)
        likelihood = -nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        return likelihood - (mean.square() + log_var.exp() - 1 - log_var).sum(1) / 2


coder = Coder()
opt = torch.optim.Adam(coder.parameters(), lr=1e-2)
for batch in pictures.split(16) * 3:
    value = coder.bound(batch).mean()
    opt.zero_grad()
    value.backward()  #! 18
    opt.step()
