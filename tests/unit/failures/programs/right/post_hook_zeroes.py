import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
opt.register_step_post_hook(lambda o, args, kwargs: o.zero_grad())
for _ in range(3):
    nn.functional.mse_loss(net(torch.randn(8, 3)), torch.randn(8, 1)).backward()
    opt.step()
