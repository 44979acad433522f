import torch


class ScheduledOptim:
    def __init__(self, optimizer, d_model, warmup):
        self._optimizer, self.d_model, self.warmup, self.n = optimizer, d_model, warmup, 0

    def step_and_update_lr(self):
        self.n += 1
        for group in self._optimizer.param_groups:
            group["lr"] = self.d_model**-0.5 * min(self.n**-0.5, self.n * self.warmup**-1.5)
        self._optimizer.step()

    def zero_grad(self):
        self._optimizer.zero_grad()


def train_epoch(model, data, optimizer, loss_fn):
    model.train()
    total = 0
    for src, trg, gold in data:
        optimizer.zero_grad()
        pred = model(src, trg)
        loss = loss_fn(pred, gold)
        loss.backward()
        optimizer.step_and_update_lr()
        total += loss.item()
    return total
