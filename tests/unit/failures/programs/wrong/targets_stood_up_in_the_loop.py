import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

body, out = nn.Linear(3, 8), nn.Linear(8, 1)
data = DataLoader(TensorDataset(torch.randn(60, 3), torch.randn(60)), batch_size=12)
opt = torch.optim.Adam([*body.parameters(), *out.parameters()], lr=1e-3)
for x, y in data:
    y = y.view(-1, 1)  #! 8
    guess = out(torch.relu(body(x))).squeeze(-1)
    loss = nn.functional.mse_loss(guess, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
