import torch
import torch.nn as nn


class ScaledLinear(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.linear = nn.Linear(n_in, n_out)

    def forward(self, x):
        scale = nn.Parameter(torch.ones(x.shape[-1]))  #! 19
        return self.linear(x * scale)


model = ScaledLinear(6, 1)
opt = torch.optim.Adam(model.parameters(), lr=1e-2)
x, y = torch.randn(32, 6), torch.randn(32, 1)
for _ in range(5):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
