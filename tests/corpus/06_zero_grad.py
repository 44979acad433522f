# %% actor zeroes the critic
import torch
from torch import nn

actor = nn.Sequential(nn.Linear(4, 32), nn.Tanh(), nn.Linear(32, 1), nn.Tanh())
critic = nn.Sequential(nn.Linear(5, 32), nn.ReLU(), nn.Linear(32, 1))
actor_optimizer = torch.optim.Adam(actor.parameters(), lr=1e-4)
critic_optimizer = torch.optim.Adam(critic.parameters(), lr=1e-3)
states, actions, returns = torch.randn(200, 4), torch.randn(200, 1), torch.randn(200, 1)

for i in range(0, 200, 20):
    state, action, value = states[i : i + 20], actions[i : i + 20], returns[i : i + 20]
    critic_loss = nn.functional.mse_loss(critic(torch.cat([state, action], 1)), value)
    critic_optimizer.zero_grad()
    critic_loss.backward()
    critic_optimizer.step()

    actor_loss = -critic(torch.cat([state, actor(state)], 1)).mean()
    critic_optimizer.zero_grad()  #! ran 6
    actor_loss.backward()  #! read 6
    actor_optimizer.step()


# %% by hand never cleared
import torch

torch.manual_seed(0)
w = torch.randn(3, requires_grad=True)
for _ in range(6):
    loss = (w - 1).pow(2).sum()
    loss.backward()  #! 6
    with torch.no_grad():
        w -= 0.05 * w.grad


# %% cleared before the loop
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.02)
x, y = torch.randn(20, 3), torch.randn(20, 1)
for _ in range(3):
    opt.zero_grad()  #! ran 6
    for part in range(0, 20, 5):
        loss = (net(x[part : part + 5]) - y[part : part + 5]).square().mean()
        loss.backward()  #! read 6
        opt.step()


# %% empties the other optimizer
import torch
from torch import nn

maker, critic = nn.Linear(2, 3), nn.Linear(3, 1)
moves_maker = torch.optim.SGD(maker.parameters(), lr=0.01)
moves_critic = torch.optim.SGD(critic.parameters(), lr=0.01)
for _ in range(50):
    made = maker(torch.randn(8, 2))

    moves_maker.zero_grad()  #! ran 6
    gap = critic(made.detach()).mean() - critic(torch.randn(8, 3)).mean()
    gap.backward()  #! read 6
    moves_critic.step()

    moves_maker.zero_grad()
    (-critic(made).mean()).backward()
    moves_maker.step()


# %% head emptied only
import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc, self.head = nn.Linear(8, 16), nn.Linear(16, 2)

    def forward(self, x):
        return self.head(torch.relu(self.enc(x)))


net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 8), torch.randint(0, 2, (32,))
for _ in range(20):
    net.head.zero_grad()  #! ran 6
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()


# %% never cleared
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
net = nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(6):
    loss = F.mse_loss(net(torch.randn(8, 5)), torch.randn(8, 1))
    loss.backward()  #! 6
    opt.step()


# %% only the first half emptied
import torch
from torch import nn


class Halves:
    def __init__(self):
        self.first, self.second = nn.Linear(6, 4), nn.Linear(4, 6)
        self.one = torch.optim.SGD(self.first.parameters(), lr=0.05)
        self.two = torch.optim.SGD(self.second.parameters(), lr=0.05)

    def clear(self):
        for weight in self.first.parameters():
            weight.grad = None

    def learn(self, x):
        for turn in range(100):
            self.clear()
            loss = (self.second(self.first(x).tanh()) - x).pow(2).mean()
            loss.backward()  #! 6
            self.one.step()
            self.two.step()


Halves().learn(torch.randn(50, 6))


# %% own zero grad in vain
import torch


class Descent:
    def __init__(self, weights, rate):
        self.weights, self.rate = list(weights), rate

    def zero_grad(self):
        for w in self.weights:
            slope = w.grad
            if slope is not None:
                slope = torch.zeros_like(slope)

    @torch.no_grad()
    def step(self):
        for w in self.weights:
            w.sub_(w.grad, alpha=self.rate)


x = torch.randn(100, 3)
y = x.sum(1)
w = torch.zeros(3, requires_grad=True)
descent = Descent([w], 0.1)
for _ in range(50):
    descent.zero_grad()
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()  #! 6
    descent.step()


# %% own zero grad throws away
import torch


class Descent:
    def __init__(self, weights, rate):
        self.weights, self.rate = list(weights), rate

    def zero_grad(self):
        for w in self.weights:
            if w.grad is not None:
                w.grad * 0

    @torch.no_grad()
    def step(self):
        for w in self.weights:
            w.sub_(w.grad, alpha=self.rate)


x = torch.randn(100, 3)
y = x.sum(1)
w = torch.zeros(3, requires_grad=True)
descent = Descent([w], 0.1)
for _ in range(50):
    descent.zero_grad()
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()  #! 6
    descent.step()


# %% stream without zero grad (read)
def batches():
    while True: yield get()
stream = batches()
for step in range(1000):
    x, y = next(stream)
    loss = F.cross_entropy(net(x), y)
    fabric.backward(loss)  #! 6
    optimizer.step()


# %% weights in a dict never emptied (read)
params = {"w1": torch.randn(3, 8, requires_grad=True), "w2": torch.randn(8, 1, requires_grad=True)}
def forward(p, x):
    return torch.tanh(x @ p["w1"]) @ p["w2"]
for x, y in batches:
    loss = ((forward(params, x) - y) ** 2).mean()
    loss.backward()  #! 6
    with torch.no_grad():
        for name in params:
            params[name] -= 0.01 * params[name].grad


# %% wrong optimizer emptied
import torch
from torch import nn

reader, writer = nn.Linear(4, 4), nn.Linear(4, 4)
opt_reader = torch.optim.SGD(reader.parameters(), lr=0.1)
opt_writer = torch.optim.SGD(writer.parameters(), lr=0.1)
for text in [torch.randn(3, 4)] * 5:
    with torch.no_grad():
        meaning = reader(text)
    distance = (writer(meaning) - text).abs().mean()
    opt_reader.zero_grad()  #! ran 6
    distance.backward()  #! read 6
    opt_writer.step()


# %% zero no call
import torch
import torch.nn as nn
net = nn.Linear(4, 1)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
x = torch.randn(64, 4)
y = x.sum(1, keepdim=True)
for step in range(12):
    opt.zero_grad
    loss = (net(x) - y).pow(2).mean()
    loss.backward()  #! 6
    opt.step()


# %% the critic's inner loop never zeroes (read)
for i in range(rounds):
    for _ in range(4):
        real = next(stream).to(device)
        gap = critic(made(real)).mean() - critic(real).mean()
        gap.backward()  #! 6
        critic_optimizer.step()
    made_loss = -critic(made(noise)).mean()
    made_optimizer.zero_grad()
    made_loss.backward()
    made_optimizer.step()
