import torch
import torch.nn.functional as F


def entropy_loss(logits):
    p = F.softmax(logits, dim=1)
    return -(p * p.log()).sum(dim=1).mean()  #! 9


def train(model, loader):
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    for x in loader:
        opt.zero_grad()
        entropy_loss(model(x)).backward()
        opt.step()
