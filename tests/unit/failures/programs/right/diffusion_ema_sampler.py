import copy

import torch
import torch.nn.functional as F


class EMA:
    def __init__(self, model, beta=0.995):
        self.beta, self.step = beta, 0
        self.shadow = copy.deepcopy(model).eval().requires_grad_(False)

    def update(self, model):
        self.step += 1
        beta = 0 if self.step < 2000 else self.beta
        for old, new in zip(self.shadow.parameters(), model.parameters()):
            old.data = old.data * beta + (1 - beta) * new.data


class Diffusion:
    def __init__(self, steps=1000, size=64):
        self.steps, self.size = steps, size
        self.beta = torch.linspace(1e-4, 0.02, steps)
        self.alpha = 1 - self.beta
        self.alpha_hat = torch.cumprod(self.alpha, dim=0)

    def noisy(self, x, t):
        root = torch.sqrt(self.alpha_hat[t])[:, None, None, None]
        rest = torch.sqrt(1 - self.alpha_hat[t])[:, None, None, None]
        noise = torch.randn_like(x)
        return root * x + rest * noise, noise

    def sample(self, model, n):
        model.eval()
        with torch.no_grad():
            x = torch.randn(n, 3, self.size, self.size)
            for i in reversed(range(1, self.steps)):
                t = torch.full((n,), i, dtype=torch.long)
                predicted = model(x, t)
                a, a_hat, b = self.alpha[t][0], self.alpha_hat[t][0], self.beta[t][0]
                noise = torch.randn_like(x) if i > 1 else torch.zeros_like(x)
                x = 1 / torch.sqrt(a) * (x - (1 - a) / torch.sqrt(1 - a_hat) * predicted) + torch.sqrt(b) * noise
        model.train()
        return (x.clamp(-1, 1) + 1) / 2


def train(model, loader, epochs):
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    diffusion, ema = Diffusion(), EMA(model)
    scaler = torch.amp.GradScaler("cuda")
    for epoch in range(epochs):
        for images, _ in loader:
            t = torch.randint(1, diffusion.steps, (images.shape[0],))
            x_t, noise = diffusion.noisy(images, t)
            with torch.autocast("cuda"):
                loss = F.mse_loss(model(x_t, t), noise)
            optimizer.zero_grad()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            ema.update(model)
        diffusion.sample(ema.shadow, 8)
