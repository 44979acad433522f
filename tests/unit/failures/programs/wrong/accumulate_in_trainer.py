import torch
import torch.nn as nn


class Trainer:
    def __init__(self, model, loader, accum_iter=4):
        self.model, self.loader, self.accum_iter = model, loader, accum_iter
        self.opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.crit = nn.CrossEntropyLoss()

    def epoch(self):
        self.opt.zero_grad()
        for i, (x, y) in enumerate(self.loader):
            loss = self.crit(self.model(x), y)
            loss.backward()  #! 24
            if (i + 1) % self.accum_iter == 0 or i + 1 == len(self.loader):
                self.opt.step()
                self.opt.zero_grad()
