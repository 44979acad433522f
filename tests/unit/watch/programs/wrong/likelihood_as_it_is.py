import torch

torch.manual_seed(0)
x = torch.randn(50) * 2 + 1
mean = torch.zeros((), requires_grad=True)
opt = torch.optim.Adam([mean], lr=0.05)
for _ in range(10):
    loss = torch.distributions.Normal(mean, 1.0).log_prob(x).sum()
    opt.zero_grad()
    loss.backward()  #! 18
    opt.step()
