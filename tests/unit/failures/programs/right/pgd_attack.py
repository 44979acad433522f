import torch
import torch.nn.functional as F


def pgd(model, x, y, eps=0.03, alpha=0.01, steps=10):
    adv = x.clone().detach()
    for _ in range(steps):
        adv.requires_grad = True
        loss = F.cross_entropy(model(adv), y)
        grad = torch.autograd.grad(loss, adv)[0]
        adv = adv.detach() + alpha * grad.sign()
        adv = torch.max(torch.min(adv, x + eps), x - eps)
    return adv.detach()
