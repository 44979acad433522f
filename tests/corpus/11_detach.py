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
from torch import nn

q = nn.Linear(4, 2)
opt = torch.optim.SGD(q.parameters(), lr=0.01)
for _ in range(10):
    s, s2, r = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16)
    a = torch.randint(2, (16, 1))
    target = r + 0.9 * q(s2).max(1).values  #? 11
    nn.functional.mse_loss(q(s).gather(1, a).squeeze(1), target).backward()
    opt.step()
    opt.zero_grad()


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


# %% hidden state from the last batch (read)
hidden = model.init_hidden(32)
for x, y in loader:
    optimizer.zero_grad()
    out, hidden = model(x, hidden)  #! 11
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()


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


# %% shelf of old results (stops)
import torch
from torch import nn


class Shelf(nn.Module):
    def __init__(self):
        super().__init__()
        self.put = nn.Linear(3, 5)
        self.ask = nn.Linear(3, 5)
        self.end = nn.Linear(5, 1)
        self.kept = torch.zeros(6, 5)

    def forward(self, rows):
        weights = torch.softmax(self.ask(rows) @ self.kept.T, dim=1)
        found = weights @ self.kept
        self.kept = torch.cat([torch.sigmoid(self.put(rows)).mean(0, keepdim=True), self.kept[:-1]])  #! ran 11
        return self.end(found)


net = Shelf()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(10):
    rows = torch.randn(12, 3)
    loss = nn.functional.mse_loss(net(rows), rows.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% state carried (stops)
import torch
import torch.nn as nn

torch.manual_seed(0)
cell, head = nn.GRUCell(2, 5), nn.Linear(5, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.01)
h = torch.zeros(4, 5)
for _ in range(4):
    h = cell(torch.randn(4, 2), h)  #! 11
    loss = head(h).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% state kept in a dict (stops)
import torch
import torch.nn as nn

cell = nn.RNNCell(3, 6)
out = nn.Linear(6, 1)
opt = torch.optim.SGD(list(cell.parameters()) + list(out.parameters()), lr=0.05)
state = {"h": torch.zeros(2, 6)}


def advance(x):
    state["h"] = cell(x, state["h"])  #! 11
    return out(state["h"])


for x, y in [(torch.randn(2, 3), torch.randn(2, 1))] * 4:
    loss = (advance(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% state under retain graph
import torch

torch.manual_seed(0)
w = (0.3 * torch.randn(3, 3)).requires_grad_()
h = torch.ones(1, 3)
for _ in range(8):
    h = torch.tanh(h @ w)  #! read 11
    loss = h.square().sum()
    loss.backward(retain_graph=True)
    w.grad = None


# %% wgan fake kept for both (stops)
import torch
import torch.nn as nn

G = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 2))
D = nn.Sequential(nn.Linear(2, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-5)
opt_d = torch.optim.RMSprop(D.parameters(), lr=5e-5)
bce = nn.BCEWithLogitsLoss()
for step in range(10):
    real = torch.randn(64, 2)
    fake = G(torch.randn(64, 16))
    opt_d.zero_grad()
    d_loss = bce(D(real), torch.ones(64, 1)) + bce(D(fake), torch.zeros(64, 1))  #! read 11
    d_loss.backward()  #! ran 2
    opt_d.step()
    opt_g.zero_grad()
    g_loss = bce(D(fake), torch.ones(64, 1))
    g_loss.backward()
    opt_g.step()


# %% judged term of a translator is detached
import torch
from torch import nn

translator = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 10))
judge = nn.Sequential(nn.Linear(10, 20), nn.LeakyReLU(0.2), nn.Linear(20, 1))
moves = torch.optim.Adam(translator.parameters(), lr=2e-4)
judges = torch.optim.Adam(judge.parameters(), lr=2e-4)
for _ in range(10):
    x, y = torch.randn(4, 10), torch.randn(4, 10)
    made = translator(x)
    judges.zero_grad()
    (judge(made.detach()).mean() - judge(y).mean()).backward()
    judges.step()
    moves.zero_grad()
    fooled = -judge(made.detach()).mean()  #! 11
    loss = fooled + 100 * nn.functional.l1_loss(made, y)
    loss.backward()
    moves.step()


# %% prediction detached in a pasted loop (read)
def train(model, loader, criterion, optimizer):
    for x, y in loader:
        optimizer.zero_grad()
        out = model(x).detach()  #! 11
        loss = criterion(out, y)
        loss.backward()
        optimizer.step()
