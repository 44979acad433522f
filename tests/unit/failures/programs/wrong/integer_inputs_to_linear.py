import torch
import torch.nn as nn

X = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])  #! 22
Y = torch.tensor([[0.0], [1.0], [1.0], [0.0]])
model = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1), nn.Sigmoid())
opt = torch.optim.SGD(model.parameters(), lr=0.5)
for i in range(5000):
    opt.zero_grad()
    loss = nn.functional.binary_cross_entropy(model(X), Y)
    loss.backward()
    opt.step()
