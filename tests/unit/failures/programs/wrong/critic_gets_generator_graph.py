import torch
from torch import optim


def gradient_penalty(critic, real, fake):
    mix = torch.rand(real.size(0), 1, 1, 1, device=real.device)
    between = (mix * real + (1 - mix) * fake.detach()).requires_grad_(True)
    scores = critic(between)
    (slopes,) = torch.autograd.grad(scores.sum(), between, create_graph=True)
    return ((slopes.flatten(1).norm(dim=1) - 1) ** 2).mean()


def train(generator, critic, loader, z_dim, epochs, n_critic=5):
    opt_g = optim.Adam(generator.parameters(), lr=1e-4, betas=(0.0, 0.9))
    opt_c = optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
    for _ in range(epochs):
        for real in loader:
            z = torch.randn(real.size(0), z_dim, device=real.device)
            fake = generator(z)
            for _ in range(n_critic):
                c_loss = critic(fake).mean() - critic(real).mean()  #! 11
                c_loss = c_loss + 10 * gradient_penalty(critic, real, fake)
                opt_c.zero_grad()
                c_loss.backward()
                opt_c.step()
            g_loss = -critic(generator(z)).mean()
            opt_g.zero_grad()
            g_loss.backward()
            opt_g.step()
