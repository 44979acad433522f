import torch
from torch import nn


class Callback:
    def on_batch_start(self, trainer):
        pass

    def on_batch_end(self, trainer):
        pass


class ZeroGrad(Callback):
    def on_batch_start(self, trainer):
        trainer.opt.zero_grad()


class Step(Callback):
    def on_batch_end(self, trainer):
        trainer.opt.step()


class Trainer:
    def __init__(self, net, callbacks):
        self.net, self.callbacks = net, callbacks
        self.opt = torch.optim.SGD(net.parameters(), lr=0.01)

    def fire(self, name):
        for callback in self.callbacks:
            getattr(callback, name)(self)

    def fit(self, batches):
        for x, y in batches:
            self.fire("on_batch_start")
            loss = nn.functional.mse_loss(self.net(x), y)
            loss.backward()
            self.fire("on_batch_end")


Trainer(nn.Linear(3, 1), [ZeroGrad(), Step()]).fit([(torch.randn(8, 3), torch.randn(8, 1))] * 3)
