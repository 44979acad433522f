import torch
import torch.nn as nn
import torch.nn.functional as F


class SmoothedCE(nn.Module):
    def __init__(self, eps=0.1):
        super().__init__()
        self.eps = eps

    def forward(self, logits, y):
        log_p = F.log_softmax(logits, dim=-1)
        nll = -log_p.gather(1, y.unsqueeze(1)).squeeze(1)
        return ((1 - self.eps) * nll - self.eps * log_p.mean(dim=-1)).mean()


model, loss_fn = nn.Linear(20, 5), SmoothedCE()
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for _ in range(5):
    opt.zero_grad()
    loss_fn(model(torch.randn(8, 20)), torch.randint(0, 5, (8,))).backward()
    opt.step()
