import torch
torch.manual_seed(0)
# momentum by leaving a decayed gradient in place
w = torch.randn(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
for _ in range(8):
    w.square().sum().backward()
    opt.step()
    w.grad.mul_(0.9)
