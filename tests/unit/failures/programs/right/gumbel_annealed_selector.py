import torch
import torch.nn.functional as F
from torch import nn


class Selector(nn.Module):
    """Chooses k of n features."""

    def __init__(self, n, k):
        super().__init__()
        self.logits = nn.Parameter(torch.zeros(k, n))
        self.temperature = 10.0

    def forward(self, x):
        if self.training:
            choice = F.gumbel_softmax(self.logits, tau=self.temperature, dim=-1)
        else:
            choice = F.one_hot(self.logits.argmax(-1), self.logits.size(-1)).float()
        return x @ choice.t()

    def cool(self, epoch, epochs, low=0.1, high=10.0):
        self.temperature = high * (low / high) ** (epoch / epochs)


selector = Selector(784, 50)
decoder = nn.Sequential(nn.Linear(50, 320), nn.LeakyReLU(0.2), nn.Linear(320, 784))
autoencoder = nn.Sequential(selector, decoder)
opt = torch.optim.Adam(autoencoder.parameters(), lr=1e-3)
for epoch in range(100):
    selector.cool(epoch, 100)
    for x, _ in loader:
        x = x.flatten(1)
        opt.zero_grad(set_to_none=True)
        F.mse_loss(autoencoder(x), x).backward()
        opt.step()
    print(epoch, selector.logits.softmax(-1).max(-1).values.mean().item())
