# %% critic goes through a fake of five rounds (read)
def train(G, D, loader):
    og = torch.optim.Adam(G.parameters()); od = torch.optim.Adam(D.parameters())
    for real in loader:
        fake = G(torch.randn(8, 10))
        for _ in range(5):
            loss = D(fake).mean() - D(real).mean()  #! 11
            od.zero_grad(); loss.backward(); od.step()
        gl = -D(G(torch.randn(8, 10))).mean()
        og.zero_grad(); gl.backward(); og.step()


# %% dqn target graph
import torch
import torch.nn as nn
q = nn.Linear(4, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.01)
for _ in range(10):
    s, s2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
    a = torch.randint(2, (16, 1))
    target = r + 0.9 * q(s2).max(1).values  #! 11
    loss = (q(s).gather(1, a).squeeze(1) - target).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()


# %% encoder detached in a function
import torch
from torch import nn


def train():
    encoder, decoder = nn.Linear(6, 2), nn.Linear(2, 6)
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()])
    for _ in range(5):
        x = torch.randn(8, 6)
        code = encoder(x).detach()  #! 11
        loss = nn.functional.mse_loss(decoder(code), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


train()


# %% gan discriminator without detach (stops)
import torch
from torch import nn, optim

dataloader = [torch.randn(4, 784)] * 2
netG = nn.Sequential(nn.Linear(100, 128), nn.ReLU(True), nn.Linear(128, 784))
netD = nn.Sequential(nn.Linear(784, 128), nn.LeakyReLU(0.2), nn.Linear(128, 1))
optG = optim.Adam(netG.parameters(), lr=2e-4)
optD = optim.Adam(netD.parameters(), lr=2e-4)
loss_fn = nn.BCEWithLogitsLoss()
for real in dataloader:
    b = real.size(0)
    ones, zeros = torch.ones(b, 1), torch.zeros(b, 1)
    fake = netG(torch.randn(b, 100))

    optD.zero_grad()
    lossD = loss_fn(netD(real), ones) + loss_fn(netD(fake), zeros)  #! 11
    lossD.backward()
    optD.step()

    optG.zero_grad()
    lossG = loss_fn(netD(fake), ones)
    lossG.backward()
    optG.step()


# %% generator never reached
import torch
from torch import nn

torch.manual_seed(0)
maker, judge = nn.Linear(3, 2), nn.Linear(2, 1)
for_maker = torch.optim.Adam(maker.parameters(), lr=1e-3)
for_judge = torch.optim.Adam(judge.parameters(), lr=1e-3)
score = nn.BCEWithLogitsLoss()
for _ in range(4):
    made = maker(torch.randn(6, 3)).detach()  #! 11
    for_judge.zero_grad()
    score(judge(made), torch.zeros(6, 1)).backward()
    for_judge.step()
    for_maker.zero_grad()
    score(judge(made), torch.ones(6, 1)).backward()
    for_maker.step()


# %% lstm state attr (stops)
import torch
import torch.nn as nn
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 5, batch_first=True)
        self.out = nn.Linear(5, 2)
        self.state = None
    def forward(self, x):
        y, self.state = self.rnn(x, self.state)  #! 11
        return self.out(y)
net = Tagger()
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    loss = net(torch.randn(2, 6, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% notes with their graph (stops)
import torch
from torch import nn


class Notes(nn.Module):
    def __init__(self):
        super().__init__()
        self.make, self.read = nn.Linear(3, 4), nn.Linear(4, 1)
        self.pages = torch.ones(2, 4)

    def forward(self, x):
        seen = self.read(self.pages.mean(0) + x.sum())
        page = self.make(x).sigmoid()
        self.pages = torch.stack([self.pages[1], page])  #! 11
        return seen


torch.manual_seed(0)
notes = Notes()
opt = torch.optim.SGD(notes.parameters(), lr=0.01)
for _ in range(6):
    loss = notes(torch.randn(3)).square().sum()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% old policy computed once with its graph (read)
def update(policy, opt, obs, act, adv):
    old_logp = policy(obs).log_prob(act)  #! 11
    for _ in range(4):
        logp = policy(obs).log_prob(act)
        ratio = torch.exp(logp - old_logp)
        loss = -(ratio * adv).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()


# %% prediction detached in a pasted loop (read)
def train(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x).detach()  #! 11
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()


# %% state under retain graph
import torch

torch.manual_seed(0)
w = (0.3 * torch.randn(3, 3)).requires_grad_()
h = torch.ones(1, 3)
for _ in range(8):
    h = torch.tanh(h @ w)  #! 11
    loss = h.square().sum()
    loss.backward(retain_graph=True)
    w.grad = None
