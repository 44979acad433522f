import torch
import torch.nn as nn


class TwoHeads(nn.Module):
    def __init__(self):
        super(TwoHeads, self).__init__()
        self.body = nn.Sequential(nn.Linear(16, 32), nn.ReLU())
        self.a = nn.Linear(32, 4)
        self.b = nn.Linear(32, 1)

    def forward(self, x):
        z = self.body(x)
        return self.a(z), self.b(z)


model = TwoHeads()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for x, label, value in data:
    logits, estimate = model(x)
    loss_a = nn.functional.cross_entropy(logits, label)
    loss_b = nn.functional.mse_loss(estimate, value)
    optimizer.zero_grad()
    loss_a.backward()  #! 2
    loss_b.backward()
    optimizer.step()
