import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

ages = torch.tensor([[23], [45], [31], [60]])  #! 22
income = torch.tensor([[20.0], [51.0], [38.0], [44.0]])
loader = DataLoader(TensorDataset(ages, income), batch_size=2, shuffle=True)
model = nn.Linear(1, 1)
opt = torch.optim.SGD(model.parameters(), lr=1e-4)
for epoch in range(10):
    for a, i in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(a), i)
        loss.backward()
        opt.step()
