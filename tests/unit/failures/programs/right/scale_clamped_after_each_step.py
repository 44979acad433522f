import torch

scale = torch.zeros(3, requires_grad=True)
scale.data.fill_(0.5)
opt = torch.optim.SGD([scale], lr=0.1)
for _ in range(4):
    opt.zero_grad()
    loss = -torch.log(scale).sum()
    loss.backward()
    opt.step()
    scale.data.clamp_(min=1e-3)
