import torch
import torch.nn as nn


def nll(logits, y):
    probs = logits.exp() / logits.exp().sum(1, keepdim=True)
    return -probs.gather(1, y.view(-1, 1)).log().mean()  #! 9


net = nn.Linear(10, 5)
opt = torch.optim.SGD(net.parameters(), lr=1.0)
for x, y in [(100 * torch.randn(6, 10), torch.randint(0, 5, (6,)))] * 3:
    opt.zero_grad()
    loss = nll(net(x), y)
    loss.backward()
    opt.step()
