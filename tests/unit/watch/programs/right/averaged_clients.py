import copy

import torch
from torch import nn


def mean_of(states):
    total = {name: torch.zeros_like(value) for name, value in states[0].items()}
    for state in states:
        for name, value in state.items():
            total[name] += value / len(states)
    return total


def trained(net, x):
    own = copy.deepcopy(net)
    opt = torch.optim.SGD(own.parameters(), lr=0.1)
    for _ in range(3):
        loss = nn.functional.cross_entropy(own(x), (x[:, 0] > 0).long())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return own.state_dict()


torch.manual_seed(8)
shared = nn.Sequential(nn.Linear(4, 12), nn.Tanh(), nn.Linear(12, 12), nn.Tanh(), nn.Linear(12, 2))
for _ in range(5):
    shared.load_state_dict(mean_of([trained(shared, x) for x in torch.randn(3, 20, 4)]))
