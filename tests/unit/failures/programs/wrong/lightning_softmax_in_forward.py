import lightning as L
import torch
from torch import nn
from torchmetrics.classification import MulticlassAccuracy


class FlowerClassifier(L.LightningModule):
    def __init__(self, n_features: int = 4, n_classes: int = 3, lr: float = 1e-3):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(n_features, 64), nn.GELU(), nn.Linear(64, n_classes))
        self.criterion = nn.CrossEntropyLoss()
        self.accuracy = MulticlassAccuracy(n_classes)

    def forward(self, x):
        return torch.softmax(self.net(x), dim=-1)  #! 25

    def _shared_step(self, batch, stage):
        x, y = batch
        y_hat = self(x)
        loss = self.criterion(y_hat, y)
        self.log(f"{stage}_loss", loss, prog_bar=True)
        self.log(f"{stage}_acc", self.accuracy(y_hat, y))
        return loss

    def training_step(self, batch, batch_idx):
        return self._shared_step(batch, "train")

    def validation_step(self, batch, batch_idx):
        self._shared_step(batch, "val")

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=self.hparams.lr)
