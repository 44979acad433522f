import torch
from torch import nn, optim
import torch.nn.functional as F
import numpy as np
import matplotlib.pyplot as plt


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2, 20)
        self.fc2 = nn.Linear(20, 3)

    def forward(self, x):
        return F.log_softmax(self.fc2(torch.tanh(self.fc1(x))), -1)

    def predict_proba(self, x):
        with torch.no_grad():
            return self.forward(x).exp().numpy()


X, Y = make_spiral()
Xt, Yt = torch.FloatTensor(X), torch.LongTensor(Y)
net, losses = Net(), []
opt = optim.SGD(net.parameters(), 1.0)
for _ in range(1000):
    opt.zero_grad()
    l = F.nll_loss(net(Xt), Yt)
    l.backward()
    opt.step()
    losses.append(float(l))
grid = np.stack(np.meshgrid(np.linspace(-2, 2, 50), np.linspace(-2, 2, 50)), -1).reshape(-1, 2)
plt.contourf(net.predict_proba(torch.FloatTensor(grid))[:, 0].reshape(50, 50))
plt.plot(np.log(losses))
