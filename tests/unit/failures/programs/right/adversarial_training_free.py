import torch
import torch.nn.functional as F

epsilon, alpha, replays = 8 / 255, 10 / 255, 4


def fgsm_epoch(model, loader, opt, scheduler):
    delta = torch.zeros(128, 3, 32, 32, requires_grad=True)
    loss_sum = correct = n = 0
    for X, y in loader:
        for _ in range(replays):
            output = model(X + delta[: X.size(0)])
            loss = F.cross_entropy(output, y)
            opt.zero_grad()
            if delta.grad is not None:
                delta.grad.zero_()
            loss.backward()
            grad = delta.grad.detach()
            delta.data = (delta + epsilon * torch.sign(grad)).clamp(-epsilon, epsilon)
            opt.step()
            scheduler.step()
        loss_sum += loss.item() * y.size(0)
        correct += (output.max(1)[1] == y).sum().item()
        n += y.size(0)
    return loss_sum / n, correct / n
