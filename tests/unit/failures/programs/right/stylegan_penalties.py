import math

import torch
import torch.nn.functional as F


def d_logistic(real, fake):
    return F.softplus(-real).mean() + F.softplus(fake).mean()


def r1_penalty(real_pred, real_img):
    (grad,) = torch.autograd.grad(outputs=real_pred.sum(), inputs=real_img, create_graph=True)
    return grad.pow(2).reshape(grad.shape[0], -1).sum(1).mean()


def path_regularize(fake, latents, mean_path, decay=0.01):
    noise = torch.randn_like(fake) / math.sqrt(fake.shape[2] * fake.shape[3])
    (grad,) = torch.autograd.grad((fake * noise).sum(), latents, create_graph=True)
    lengths = torch.sqrt(grad.pow(2).sum(2).mean(1) + 1e-8)
    new_mean = mean_path + decay * (lengths.mean() - mean_path)
    return (lengths - new_mean).pow(2).mean(), new_mean.detach()


def requires_grad(model, flag=True):
    for p in model.parameters():
        p.requires_grad = flag


def train(loader, generator, discriminator, g_optim, d_optim, d_every=16, g_every=4):
    mean_path = 0
    for i, real in enumerate(loader):
        requires_grad(generator, False)
        requires_grad(discriminator, True)
        z = torch.randn(real.shape[0], 512)
        fake, _ = generator(z)
        d_loss = d_logistic(discriminator(real), discriminator(fake))
        discriminator.zero_grad()
        d_loss.backward()
        d_optim.step()

        if i % d_every == 0:
            real.requires_grad = True
            pred = discriminator(real)
            penalty = r1_penalty(pred, real)
            discriminator.zero_grad()
            (5 * penalty * d_every + 0 * pred[0]).sum().backward()
            d_optim.step()

        requires_grad(generator, True)
        requires_grad(discriminator, False)
        fake, _ = generator(torch.randn(real.shape[0], 512))
        g_loss = F.softplus(-discriminator(fake)).mean()
        generator.zero_grad()
        g_loss.backward()
        g_optim.step()

        if i % g_every == 0:
            fake, latents = generator(torch.randn(real.shape[0] // 2, 512), return_latents=True)
            path_loss, mean_path = path_regularize(fake, latents, mean_path)
            generator.zero_grad()
            (2 * g_every * path_loss).backward()
            g_optim.step()
