import torch
from torch import nn
import pytorch_lightning as pl


class LitModel(pl.LightningModule):
    def __init__(self, hidden=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(28 * 28, hidden), nn.ReLU(), nn.Linear(hidden, 10))
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x):
        return self.net(x.flatten(1))

    def training_step(self, batch, batch_idx):
        x, y = batch
        logits = self(x)
        loss = self.loss(logits, y)
        self.log("train_loss", loss)
        self.log("train_accuracy", (logits.argmax(dim=1) == y).float().mean())
        return loss

    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val_loss", self.loss(self(x), y))

    def predict_step(self, batch, batch_idx):
        return torch.softmax(self(batch[0]), dim=1)

    def configure_optimizers(self):
        opt = torch.optim.Adam(self.parameters(), lr=1e-3)
        return {"optimizer": opt, "lr_scheduler": torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10)}
