import torch

torch.manual_seed(0)
x = torch.randn(50) * 2 + 1
mean = torch.zeros((), requires_grad=True)
opt = torch.optim.Adam([mean], lr=0.05, maximize=True)
for _ in range(10):
    loss = torch.distributions.Normal(mean, 1.0).log_prob(x).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
again = torch.zeros((), requires_grad=True)
second = torch.optim.SGD([again], lr=0.01)
for _ in range(5):
    loss = -torch.distributions.Normal(again, 1.0).log_prob(x).mean()
    second.zero_grad()
    loss.backward()
    second.step()
