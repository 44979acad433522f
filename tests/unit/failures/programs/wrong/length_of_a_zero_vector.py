import torch

v = torch.zeros(3, requires_grad=True)
target = torch.tensor([1.0, 2.0, 2.0])
opt = torch.optim.SGD([v], lr=0.1)
for i in range(100):
    loss = (v - target).pow(2).sum() + 0.01 * v.pow(2).sum().sqrt()  #! 9
    opt.zero_grad()
    loss.backward()
    opt.step()
