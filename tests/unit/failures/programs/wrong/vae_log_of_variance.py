import torch
from torch import nn
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self, inputs=784, latent=20):
        super().__init__()
        self.body = nn.Linear(inputs, 400)
        self.mean = nn.Linear(400, latent)
        self.var = nn.Linear(400, latent)
        self.decode = nn.Sequential(nn.Linear(latent, 400), nn.ReLU(), nn.Linear(400, inputs), nn.Sigmoid())

    def forward(self, x):
        h = F.relu(self.body(x))
        mean, var = self.mean(h), F.relu(self.var(h))
        z = mean + (var + 1e-6).sqrt() * torch.randn_like(mean)
        return self.decode(z), mean, var


def elbo(reconstruction, x, mean, var):
    nll = F.binary_cross_entropy(reconstruction, x, reduction="sum")
    kl = 0.5 * torch.sum(var + mean**2 - 1 - torch.log(var))  #! 9
    return (nll + kl) / len(x)


model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, _ in loader:
    x = x.flatten(1)
    reconstruction, mean, var = model(x)
    loss = elbo(reconstruction, x, mean, var)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
