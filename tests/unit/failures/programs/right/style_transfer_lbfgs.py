import torch
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim


class ContentLoss(nn.Module):
    def __init__(self, target):
        super().__init__()
        self.target = target.detach()

    def forward(self, x):
        self.loss = F.mse_loss(x, self.target)
        return x


def gram(x):
    a, b, c, d = x.size()
    f = x.view(a * b, c * d)
    return torch.mm(f, f.t()).div(a * b * c * d)


def run(model, img, style_losses, content_losses, steps=300):
    img.requires_grad_(True)
    model.requires_grad_(False)
    optimizer = optim.LBFGS([img])
    run = [0]
    while run[0] <= steps:

        def closure():
            with torch.no_grad():
                img.clamp_(0, 1)
            optimizer.zero_grad()
            model(img)
            style_score = 0
            content_score = 0
            for sl in style_losses:
                style_score += sl.loss
            for cl in content_losses:
                content_score += cl.loss
            loss = style_score * 1e6 + content_score
            loss.backward()
            run[0] += 1
            return loss

        optimizer.step(closure)
    return img
