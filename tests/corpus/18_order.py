# %% ascends by hand
import torch

x = torch.tensor([1.0, 5.0], requires_grad=True)
for _ in range(50):
    loss = (x**2).sum()
    loss.backward()
    with torch.no_grad():
        x += 0.1 * x.grad  #! 18
        x.grad.zero_()
print(x)


# %% ascent in the numbers of a weight (read)
w = torch.randn(3, requires_grad=True)
for i in range(100):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w.data = w.data + 0.1 * w.grad  #! 18
    w.grad.zero_()


# %% clip after step
import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)  #! 18


# %% clip before backward
import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    loss = (w - 2).square().sum()
    torch.nn.utils.clip_grad_norm_([w], 1.0)  #! 18
    loss.backward()
    optimizer.step()


# %% density made smaller
import torch
from torch.distributions import Normal

heights = 170 + 8 * torch.randn(200)
centre = torch.tensor(160.0, requires_grad=True)
width = torch.tensor(2.0, requires_grad=True)
opt = torch.optim.Adam([centre, width], lr=0.1)


def evidence():
    return Normal(centre, width.exp()).log_prob(heights).sum()  #? 18


for _ in range(50):
    opt.zero_grad()
    total = evidence()
    total.backward()  #? 18
    opt.step()


# %% elbo made smaller
import torch
from torch import nn

torch.manual_seed(4)
pictures = (torch.rand(96, 20) > 0.5).float()


class Coder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(20, 6)
        self.decode = nn.Linear(3, 20)

    def bound(self, x):
        mean, log_var = self.encode(x).chunk(2, dim=1)
        code = mean + torch.randn_like(mean) * (log_var / 2).exp()
        logits = self.decode(code)
        likelihood = -nn.functional.binary_cross_entropy_with_logits(logits, x, reduction="none").sum(1)
        return likelihood - (mean.square() + log_var.exp() - 1 - log_var).sum(1) / 2


coder = Coder()
opt = torch.optim.Adam(coder.parameters(), lr=1e-2)
for batch in pictures.split(16) * 3:
    value = coder.bound(batch).mean()
    opt.zero_grad()
    value.backward()  #? 18
    opt.step()


# %% emptied between backward and step (read)
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.zero_grad()  #! 18
    optimizer.step()


# %% empties before it applies
import torch
import torch.nn as nn
import torch.nn.functional as F


class T:
    def __init__(self, net):
        self.net, self.opt = net, torch.optim.SGD(net.parameters(), lr=0.1)

    def grads(self, x, y):
        loss = F.mse_loss(self.net(x), y)
        loss.backward()
        return loss

    def apply(self):
        self.opt.zero_grad()  #! 18
        self.opt.step()


t = T(nn.Linear(4, 1))
for _ in range(10):
    t.grads(torch.randn(8, 4), torch.randn(8, 1))
    t.apply()


# %% learn steps before its loss goes back (read)
class T(nn.Module):
    def learn(self, loss):
        self.optimizer.step()  #! 18
        loss.backward()
        self.optimizer.zero_grad()


# %% likelihood climbed backwards
import torch

x, label = torch.randn(40, 3), torch.randint(0, 2, (40,))
w = torch.zeros(3, 2, requires_grad=True)


def surprise(w):
    log_p = (x @ w).log_softmax(1)
    return -log_p[torch.arange(40), label].mean()


for _ in range(20):
    cost_now = surprise(w)
    cost_now.backward()
    with torch.no_grad():
        w.add_(w.grad, alpha=0.1)  #? 18
        w.grad.zero_()


# %% maximize
import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1, maximize=True)  #! ran 18
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad(); loss.backward(); opt.step()


# %% minus ce
import torch
import torch.nn as nn
torch.manual_seed(0)
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(20):
    loss = -nn.functional.cross_entropy(net(x), y)  #! ran 18
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% own optimizer steps uphill
import torch
from torch import nn
from torch.optim import Optimizer


class HeavyBall(Optimizer):
    def __init__(self, params, lr, beta=0.8):
        super().__init__(params, {"lr": lr, "beta": beta})

    @torch.no_grad()
    def step(self):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.add_(p.grad, alpha=group["lr"])  #! read 18


net = nn.Linear(5, 1)
opt = HeavyBall(net.parameters(), lr=0.01)  #! ran 18
for _ in range(100):
    x = torch.randn(20, 5)
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% plugins in the wrong order
import torch
from torch import nn

torch.manual_seed(6)


class Forget:
    def run(self, state):
        state["opt"].zero_grad()  #! ran 18


class Move:
    def run(self, state):
        state["opt"].step()


net = nn.Linear(4, 2)
state = {"opt": torch.optim.RMSprop(net.parameters(), lr=0.01)}
plugins = [Forget(), Move()]  #? 18
for x in torch.randn(10, 16, 4):
    nn.functional.cross_entropy(net(x), (x.sum(1) > 0).long()).backward()
    for plugin in plugins:
        plugin.run(state)


# %% policy without minus
import torch
import torch.nn as nn

torch.manual_seed(0)
policy, value = nn.Linear(3, 4), nn.Linear(3, 1)
opt = torch.optim.Adam([*policy.parameters(), *value.parameters()], lr=1e-2)
for _ in range(10):
    state = torch.randn(32, 3)
    dist = torch.distributions.Categorical(logits=policy(state))
    action = dist.sample()
    reward = (action == 2).float()
    advantage = reward - value(state).squeeze(1).detach()
    actor = (dist.log_prob(action) * advantage).mean()  #? 18
    critic = (value(state).squeeze(1) - reward).pow(2).mean()
    loss = actor + 0.5 * critic - 0.01 * dist.entropy().mean()  #? 18
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% scheduler first
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
scheduler = torch.optim.lr_scheduler.StepLR(opt, 2)
for _ in range(5):
    scheduler.step()  #! 18
    loss = net(torch.randn(8, 4)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% step no call
import torch
import torch.nn as nn
net = nn.Linear(4, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(64, 4), torch.randint(3, (64,))
for _ in range(20):
    loss = nn.functional.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()  #! ran 18
    opt.step


# %% steps before its pass
import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.Sigmoid(), nn.Linear(4, 1))
opt = torch.optim.Adam(net.parameters())
for x in torch.randn(5, 8, 2):
    cost = net(x).square().mean()
    opt.zero_grad()
    opt.step()  #! 18
    cost.backward()


# %% steps one batch late
import torch
from torch import nn

net = nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.randn(12, 8, 4):
    error = (net(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.step()  #! read 18
    optimizer.zero_grad()
    error.backward()


# %% uphill in a loop over names that are missing (read)
for _ in range(500):
    loss = (a + b * x - y).pow(2).sum()
    loss.backward()
    with torch.no_grad():
        for p in (a, b):
            p += rate * p.grad  #! read 18
            p.grad = None


# %% action made worse by its critic
import torch
from torch import nn

actor = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1))
acts, values = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
for _ in range(10):
    state, action, after = torch.randn(16, 3), torch.rand(16, 2), torch.randn(16, 3)
    reward = -action.square().sum(1, keepdim=True)
    with torch.no_grad():
        wanted = reward + 0.99 * critic(torch.cat([after, actor(after)], 1))
    values.zero_grad()
    (critic(torch.cat([state, action], 1)) - wanted).pow(2).mean().backward()
    values.step()
    value = critic(torch.cat([state, actor(state)], 1)).mean()  #? 18
    acts.zero_grad()
    value.backward()
    acts.step()


# %% slopes changed before they are there (stops)
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.SGD(net.parameters(), lr=0.1)


def sparser():
    for layer in net.modules():
        if isinstance(layer, nn.BatchNorm1d):
            layer.weight.grad.add_(1e-4 * layer.weight.detach().sign())  #! 18


for _ in range(5):
    loss = nn.functional.cross_entropy(net(torch.randn(16, 4)), torch.randint(0, 2, (16,)))
    opt.zero_grad()
    sparser()
    loss.backward()
    opt.step()


# %% zeroed between a manual backward and its step (read)
class Segmenter(pl.LightningModule):
    def training_step(self, batch, number):
        optimizer = self.optimizers()
        image, mask = batch
        loss = F.cross_entropy(self.net(image), mask)
        self.manual_backward(loss)
        optimizer.zero_grad()  #! 18
        optimizer.step()
