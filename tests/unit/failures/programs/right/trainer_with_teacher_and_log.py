import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Trainer:
    def __init__(self, net, lr=1e-3, accum=2):
        self.net, self.accum = net, accum
        self.ema = copy.deepcopy(net).requires_grad_(False)
        self.opt = torch.optim.AdamW(net.parameters(), lr=lr)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, 100)
        self.log = {"loss": [], "acc": []}

    def losses(self, batch):
        x, y = batch
        logits = self.net(x)
        with torch.no_grad():
            soft = self.ema(x).softmax(-1)
        return {
            "ce": F.cross_entropy(logits, y),
            "kd": F.kl_div(logits.log_softmax(-1), soft, reduction="batchmean"),
        }, logits

    @torch.no_grad()
    def update_ema(self, m=0.99):
        for e, p in zip(self.ema.parameters(), self.net.parameters()):
            e.mul_(m).add_(p, alpha=1 - m)

    def epoch(self, batches):
        for i, batch in enumerate(batches):
            parts, logits = self.losses(batch)
            loss = sum(parts.values()) / self.accum
            loss.backward()
            if (i + 1) % self.accum == 0:
                nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.opt.step()
                self.sched.step()
                self.opt.zero_grad(set_to_none=True)
                self.update_ema()
            self.log["loss"].append(loss.item() * self.accum)
            self.log["acc"].append((logits.argmax(-1) == batch[1]).float().mean().item())


t = Trainer(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
t.epoch([(torch.randn(5, 4), torch.randint(0, 3, (5,))) for _ in range(4)])
