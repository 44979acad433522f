import torch


def shape(t):
    return torch.where(t == 0, torch.zeros_like(t), t * t.abs().log())  #! 20


x = torch.arange(-10, 11) / 10
y = shape(2 * x)
k = torch.tensor(1.5, requires_grad=True)
opt = torch.optim.SGD([k], lr=0.1)
for _ in range(4):
    loss = (shape(k * x) - y).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
