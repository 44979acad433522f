import torch
from torch import nn
import pytorch_lightning as pl


class LitModel(pl.LightningModule):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(28 * 28, hidden), nn.ReLU(), nn.Linear(hidden, 10), nn.LogSoftmax(dim=1))
        self.probabilities = nn.Softmax(dim=1)
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net[:3](x.flatten(1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        scores = self.probabilities(self.forward(x))  #! 25
        loss = self.loss(scores, y)
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=1e-3)
