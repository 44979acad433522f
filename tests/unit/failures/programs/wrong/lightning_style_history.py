import torch
import torch.nn as nn
import torch.nn.functional as F


class LitRegressor:
    def __init__(self):
        self.net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 1))
        self.train_losses = []

    def training_step(self, batch):
        x, y = batch
        loss = F.mse_loss(self.net(x).squeeze(1), y)
        self.train_losses.append(loss)  #! 10
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.net.parameters(), lr=1e-3)


def fit(module, loader, epochs):
    opt = module.configure_optimizers()
    for epoch in range(epochs):
        for batch in loader:
            opt.zero_grad()
            loss = module.training_step(batch)
            loss.backward()
            opt.step()
        print(sum(module.train_losses) / len(module.train_losses))


fit(LitRegressor(), [(torch.randn(8, 4), torch.randn(8)) for _ in range(5)], 2)
