import torch
import torch.nn as nn


def fit(model, loader, opt, sam=False):
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        if sam:
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
        else:
            loss.backward()
            opt.step()


model = nn.Linear(4, 1)
data = [(torch.randn(8, 4), torch.randn(8, 1)) for _ in range(3)]
fit(model, data, torch.optim.SGD(model.parameters(), lr=0.05))
