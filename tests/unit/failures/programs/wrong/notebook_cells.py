# %%
%matplotlib inline
import torch
import torch.nn as nn
!pip install torchmetrics

# %%
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimiser = torch.optim.SGD(net.parameters(), lr=0.05)
xs = torch.linspace(-3, 3, 100).unsqueeze(1)
ys = torch.sin(xs).squeeze()

# %%
curve = []
for it in range(400):
    loss = nn.MSELoss()(net(xs), ys)  #! 8
    loss.backward()  #! 6
    optimiser.step()
    curve.append(loss.item())
