import torch

torch.manual_seed(0)
place = torch.tensor([[0.0, 1.0], [2.0, 1.0]], requires_grad=True)
opt = torch.optim.SGD([place], lr=0.01)
for _ in range(3):
    apart = (place[:, None] - place[None]).square().sum(-1)
    energy = torch.where(apart > 1e-9, 2.0 / apart, torch.zeros_like(apart)).sum()  #! 20
    opt.zero_grad()
    energy.backward()
    opt.step()
