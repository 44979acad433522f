import random

import torch


def flat_grad(loss, params):
    grads = torch.autograd.grad(loss, params, retain_graph=True, allow_unused=True)
    return torch.cat([(torch.zeros_like(p) if g is None else g).flatten() for g, p in zip(grads, params)])


def project(grads):
    out = [g.clone() for g in grads]
    for g in out:
        for other in random.sample(grads, len(grads)):
            dot = g @ other
            if dot < 0:
                g -= dot / other.norm() ** 2 * other
    return torch.stack(out).mean(0)


def pcgrad_step(losses, params, optimizer):
    merged = project([flat_grad(loss, params) for loss in losses])
    optimizer.zero_grad()
    at = 0
    for p in params:
        p.grad = merged[at : at + p.numel()].view_as(p).clone()
        at += p.numel()
    optimizer.step()


for x, targets in loader:
    outputs = model(x)
    losses = [task.loss(outputs[task.name], targets[task.name]) for task in tasks]
    pcgrad_step(losses, list(model.parameters()), optimizer)
