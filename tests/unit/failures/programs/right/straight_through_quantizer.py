import torch
from torch import nn
import torch.nn.functional as F


class Quantizer(nn.Module):
    def __init__(self, n_codes, dim, cost=0.25):
        super().__init__()
        self.codebook = nn.Embedding(n_codes, dim)
        self.codebook.weight.data.uniform_(-1 / n_codes, 1 / n_codes)
        self.cost = cost

    def forward(self, z):
        flat = z.reshape(-1, z.shape[-1])
        distance = (
            flat.pow(2).sum(1, keepdim=True) + self.codebook.weight.pow(2).sum(1) - 2 * flat @ self.codebook.weight.T
        )
        nearest = distance.argmin(dim=1)
        q = self.codebook(nearest).view_as(z)
        loss = F.mse_loss(q, z.detach()) + self.cost * F.mse_loss(q.detach(), z)
        q = z + (q - z).detach()
        used = F.one_hot(nearest, self.codebook.num_embeddings).float().mean(0)
        perplexity = torch.exp(-(used * torch.log(used + 1e-10)).sum())
        return q, loss, perplexity


class VQVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(784, 128), nn.ReLU(inplace=True), nn.Linear(128, 16))
        self.quantizer = Quantizer(512, 16)
        self.decoder = nn.Sequential(nn.Linear(16, 128), nn.ReLU(inplace=True), nn.Linear(128, 784))

    def forward(self, x):
        q, vq_loss, perplexity = self.quantizer(self.encoder(x))
        return self.decoder(q), vq_loss, perplexity


model = VQVAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, amsgrad=False)
model.train()
errors, perplexities = [], []
for i in range(15000):
    (data, _) = next(iter(training_loader))
    optimizer.zero_grad()
    recon, vq_loss, perplexity = model(data)
    recon_error = F.mse_loss(recon, data) / 0.06
    loss = recon_error + vq_loss
    loss.backward()
    optimizer.step()
    errors.append(recon_error.item())
    perplexities.append(perplexity.item())
