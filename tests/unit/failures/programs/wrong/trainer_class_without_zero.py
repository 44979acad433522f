import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, lr=1e-3):
        self.model = model
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.loss_fn = nn.MSELoss()

    def train_step(self, x, y):
        self.model.train()
        prediction = self.model(x)
        loss = self.loss_fn(prediction, y)
        loss.backward()  #! 6
        self.optimizer.step()
        return loss.item()

    def fit(self, loader, epochs):
        history = []
        for epoch in range(epochs):
            total = 0.0
            for x, y in loader:
                total += self.train_step(x, y)
            history.append(total / len(loader))
        return history
