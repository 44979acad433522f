import torch
import torch.nn as nn
import torch.nn.functional as F


class Diffusion:
    def __init__(self, steps=1000, device="cpu"):
        self.beta = torch.linspace(1e-4, 0.02, steps).to(device)
        self.alpha_hat = torch.cumprod(1.0 - self.beta, dim=0)

    def noise(self, x, t):
        a = torch.sqrt(self.alpha_hat[t])[:, None, None, None]
        b = torch.sqrt(1 - self.alpha_hat[t])[:, None, None, None]
        eps = torch.randn_like(x)
        return a * x + b * eps, eps

    @torch.no_grad()
    def sample(self, model, n):
        model.eval()
        x = torch.randn(n, 3, 64, 64)
        for i in reversed(range(1, 1000)):
            t = (torch.ones(n) * i).long()
            x = x - self.beta[t][:, None, None, None] * model(x, t)
        model.train()
        return x.clamp(-1, 1)


def train(model, loader, epochs):
    diffusion = Diffusion()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    mse = nn.MSELoss()
    for epoch in range(epochs):
        for images, _ in loader:
            t = torch.randint(1, 1000, (images.shape[0],))
            x_t, eps = diffusion.noise(images, t)
            loss = mse(eps, model(x_t, t))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        diffusion.sample(model, 4)
