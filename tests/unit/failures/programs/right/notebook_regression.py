# %%
%matplotlib inline
import matplotlib.pyplot as plt
import torch
import torch.nn as nn

# %%
xs = torch.linspace(-3, 3, 100).unsqueeze(1)
ys = torch.sin(xs)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 1))
optimiser = torch.optim.Adam(net.parameters(), lr=0.01)

# %%
curve = []
for it in range(400):
    loss = nn.MSELoss()(net(xs), ys)
    optimiser.zero_grad(); loss.backward(); optimiser.step()
    curve.append(float(loss))

# %%
plt.plot(xs.numpy(), net(xs).detach().numpy())
plt.plot(curve)
