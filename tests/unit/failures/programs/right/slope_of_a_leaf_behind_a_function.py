import torch
import torch.nn.functional as F
from torch import nn


def whiten(picture):
    return (picture - picture.mean()) / 0.3


def saliency(net, picture, label):
    shown = whiten(picture).detach().requires_grad_()
    F.cross_entropy(net(shown), label).backward()
    return shown.grad.abs().amax(dim=1)


def saliency_of_pixels(net, picture, label):
    pixels = picture.detach().clone().requires_grad_()
    shown = whiten(pixels)
    shown.retain_grad()
    F.cross_entropy(net(shown), label).backward()
    return shown.grad, pixels.grad


net = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 10))
print(saliency(net, torch.rand(2, 3, 8, 8), torch.tensor([1, 4])).shape)
print(saliency_of_pixels(net, torch.rand(2, 3, 8, 8), torch.tensor([1, 4]))[0].shape)
