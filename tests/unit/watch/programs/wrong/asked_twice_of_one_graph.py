import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(3):
    loss = w.exp().sum()
    size = torch.autograd.grad(loss, [w])[0].abs().max()  #! 2
    opt.zero_grad()
    loss.backward()
    opt.step()
