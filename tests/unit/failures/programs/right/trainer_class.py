import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, loaders, lr=1e-3, patience=3):
        self.model = model
        self.loaders = loaders
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
        self.scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(self.optimizer, patience=1)
        self.criterion = nn.CrossEntropyLoss()
        self.patience = patience
        self.best = float("inf")

    def _step(self, batch):
        x, y = batch
        return self.criterion(self.model(x), y)

    def train_epoch(self):
        self.model.train()
        total = 0.0
        for batch in self.loaders["train"]:
            self.optimizer.zero_grad()
            loss = self._step(batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.optimizer.step()
            total += loss.item()
        return total / len(self.loaders["train"])

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        return sum(self._step(batch) for batch in self.loaders["val"]) / len(self.loaders["val"])

    def fit(self, epochs):
        waited = 0
        for epoch in range(epochs):
            train_loss = self.train_epoch()
            val_loss = self.validate().item()
            self.scheduler.step(val_loss)
            if val_loss < self.best:
                self.best, waited = val_loss, 0
            else:
                waited += 1
            if waited >= self.patience:
                break
