import torch

knobs = torch.zeros(3, requires_grad=True)
opt = torch.optim.Adam([knobs])
for _ in range(4):
    energy = (knobs * knobs).sum() + torch.exp(knobs).sum()
    (slope,) = torch.autograd.grad(energy, knobs, retain_graph=True)
    print(slope.norm())
    opt.zero_grad()
    energy.backward()
    opt.step()
