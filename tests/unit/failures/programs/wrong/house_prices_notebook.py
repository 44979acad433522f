# %%
%matplotlib inline
import pandas as pd
import torch
from torch import nn
!pip install -q torch

# %%
df = pd.read_csv("houses.csv")
features = torch.tensor(df.drop(columns="price").values, dtype=torch.float32)
price = torch.tensor(df["price"].values, dtype=torch.float32)

# %%
model = nn.Sequential(nn.Linear(features.shape[1], 32), nn.ReLU(), nn.Linear(32, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)

# %%
for epoch in range(500):
    optimizer.zero_grad()
    out = model(features)
    loss = torch.mean((out - price) ** 2)  #! 8
    loss.backward()
    optimizer.step()
    if epoch % 50 == 0:
        print(f"{epoch:4d} {loss.item():.3f}")
