import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 2)).requires_grad_(False)
picture = torch.rand(1, 6)


def dream(picture, rounds):
    seen = picture.clone()  #! 4
    for _ in range(rounds):
        score = net(seen)[0, 1]
        score.backward()
        seen = (seen + 0.1 * seen.grad).detach()
    return seen


print(dream(picture, 3))
