import math
import torch

x = torch.randn(500, 1)
k = 4
means = torch.randn(k, requires_grad=True)
log_sigma = torch.zeros(k, requires_grad=True)
logits = torch.zeros(k, requires_grad=True)
opt = torch.optim.Adam([means, log_sigma], lr=0.05)  #! 19

for it in range(400):
    log_w = torch.log_softmax(logits, 0)
    z = (x - means) / log_sigma.exp()
    log_p = -0.5 * z**2 - log_sigma - 0.5 * math.log(2 * math.pi)
    nll = -torch.logsumexp(log_w + log_p, dim=1).mean()
    opt.zero_grad()
    nll.backward()
    opt.step()
