import pandas as pd
import torch
import torch.nn as nn

df = pd.read_csv("housing.csv")
X = torch.tensor(df.drop("price", axis=1).values, dtype=torch.float32)
y = torch.tensor(df["price"].values, dtype=torch.float32)


class Regressor(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(n, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, x):
        return self.layers(x)


model = Regressor(X.shape[1])
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
loss_fn = nn.MSELoss()
for epoch in range(100):
    opt.zero_grad()
    loss = loss_fn(model(X), y)  #! 8
    loss.backward()
    opt.step()
