# %% accumulated
import torch
import torch.nn as nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for i in range(16):
    loss = net(torch.randn(8, 4)).pow(2).mean() / 4
    loss.backward()
    if (i + 1) % 4 == 0:
        opt.step()
        opt.zero_grad()


# %% barlow twins scale
import torch
import torch.nn as nn

net = nn.Sequential(nn.Linear(20, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Linear(64, 16))
opt = torch.optim.SGD(net.parameters(), lr=0.05)
bn = nn.BatchNorm1d(16, affine=False)
for _ in range(5):
    x = torch.randn(32, 20)
    c = bn(net(x + 0.1 * torch.randn_like(x))).T @ bn(net(x)) / 32
    on = (torch.diagonal(c) - 1).pow(2).sum()
    off = c.pow(2).sum() - torch.diagonal(c).pow(2).sum()
    loss = on + 5e-3 * off
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% count then step divided
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
GROUP, waiting = 4, 0
for x, y in [(torch.randn(2, 3), torch.randn(2, 1))] * 16:
    loss = nn.functional.mse_loss(net(x), y) / GROUP
    loss.backward()
    waiting += 1
    if waiting == GROUP:
        opt.step()
        opt.zero_grad()
        waiting = 0


# %% dqn
import copy
import torch
import torch.nn as nn
torch.manual_seed(0)
q = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
target = copy.deepcopy(q)
opt = torch.optim.Adam(q.parameters(), lr=1e-3)
for step in range(20):
    s, s2, r, done = torch.randn(16, 4), torch.randn(16, 4), torch.rand(16), torch.rand(16) < 0.1
    a = torch.randint(2, (16, 1))
    with torch.no_grad():
        goal = r + 0.99 * target(s2).max(1).values * (~done)
    loss = nn.functional.smooth_l1_loss(q(s).gather(1, a).squeeze(1), goal)
    opt.zero_grad(); loss.backward(); opt.step()
    if step % 5 == 0:
        target.load_state_dict(q.state_dict())
    with torch.no_grad():
        for p, t in zip(q.parameters(), target.parameters()):
            t.mul_(0.99).add_(0.01 * p)


# %% forger zeroed after its step
import torch
from torch import nn

forger = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 2))
judge = nn.Sequential(nn.Linear(2, 16), nn.ReLU(), nn.Linear(16, 1))
moves_forger = torch.optim.Adam(forger.parameters(), lr=2e-4)
moves_judge = torch.optim.Adam(judge.parameters(), lr=2e-4)
score = nn.BCEWithLogitsLoss()
for real in torch.randn(100, 32, 2):
    moves_judge.zero_grad()
    forged = forger(torch.randn(32, 3)).detach()
    loss = score(judge(real), torch.ones(32, 1)) + score(judge(forged), torch.zeros(32, 1))
    loss.backward()
    moves_judge.step()

    moves_judge.zero_grad()
    score(judge(forger(torch.randn(32, 3))), torch.ones(32, 1)).backward()
    moves_forger.step()
    moves_forger.zero_grad()


# %% large rate for small inputs
import torch
from torch import nn

size = torch.rand(80, 1) * 0.05
line = nn.Linear(1, 1, bias=False)
opt = torch.optim.SGD(line.parameters(), lr=100.0)
for _ in range(40):
    loss = nn.functional.mse_loss(line(size), 4 * size)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% match on the phase
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for phase in ["plain", "robust"] * 2:
    out, y = net(torch.randn(8, 3)), torch.randn(8, 1)
    loss = nn.functional.mse_loss(out, y)
    opt.zero_grad()
    match phase:
        case "plain":
            loss.backward()
        case "robust":
            (loss + nn.functional.l1_loss(out, y)).backward()
    opt.step()


# %% memories handed from batch to batch (read)
mems = tuple()
for data, target in loader:
    ret = model(data, target, *mems)
    loss, mems = ret[0], ret[1:]
    loss = loss.float().mean()
    model.zero_grad(); loss.backward(); opt.step()


# %% out of memory retry
import torch
from torch import nn

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
for _ in range(3):
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    try:
        opt.zero_grad()
        nn.functional.mse_loss(net(x), y).backward()
        opt.step()
    except RuntimeError:
        opt.zero_grad()
        for part, wanted in zip(x.chunk(2), y.chunk(2)):
            (nn.functional.mse_loss(net(part), wanted) / 2).backward()
        opt.step()


# %% padded
import torch
from torch import nn

torch.manual_seed(0)
table, head = nn.Embedding(8, 3, padding_idx=0), nn.Linear(3, 2)
with torch.no_grad():
    row = table.weight[1]
    row.fill_(0.5)
    row.mul_(2)
opt = torch.optim.SGD([*table.parameters(), *head.parameters()], lr=0.1)
for _ in range(4):
    ids = torch.tensor([[1, 4, 0], [2, 0, 0]])
    keep = (ids != 0).float().unsqueeze(-1)
    pooled = (table(ids) * keep).sum(1) / keep.sum(1)
    loss = nn.functional.cross_entropy(head(pooled), torch.tensor([0, 1]))
    opt.zero_grad()
    loss.backward()
    opt.step()
assert table.weight[0].tolist() == [0.0, 0.0, 0.0]  # the padding


# %% parts taken from an iterator divided
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
parts = iter(DataLoader(TensorDataset(torch.randn(640, 3), torch.randn(640, 1)), batch_size=4))
for step in range(32):
    opt.zero_grad()
    for part in range(5):
        x, y = next(parts)
        loss = nn.functional.mse_loss(net(x), y)
        (loss / 5).backward()
    opt.step()


# %% rate divided
import torch
import torch.nn as nn
torch.manual_seed(0)
# the rate is divided instead of the loss
K = 4
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01 / K)
for i in range(16):
    net(torch.randn(4, 3)).square().mean().backward()
    if (i + 1) % K == 0:
        opt.step()
        opt.zero_grad()


# %% shares of each domain
import torch
from torch import nn

PLACES = 5
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for turn in range(30):
    opt.zero_grad()
    shown = 0.0
    for place in range(PLACES):
        rows = torch.randn(10, 3) + place
        error = nn.functional.l1_loss(net(rows), rows.mean(1, keepdim=True))
        (error / PLACES).backward()
        shown += error.item() / PLACES
    opt.step()
    print(turn, shown)


# %% sparse embedding
import torch
from torch import nn

torch.manual_seed(0)
words = nn.Embedding(50, 8, sparse=True)
head = nn.Linear(8, 50)
rows = torch.optim.SparseAdam(words.parameters(), lr=0.01)
dense = torch.optim.SGD(head.parameters(), lr=0.1)
for _ in range(25):
    now, after = torch.randint(50, (2, 32))
    loss = nn.functional.cross_entropy(head(words(now)), after)
    rows.zero_grad()
    dense.zero_grad()
    loss.backward()
    rows.step()
    dense.step()


# %% straight through
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
enc, dec = nn.Linear(4, 3), nn.Linear(3, 4)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for _ in range(6):
    x = torch.randn(8, 4)
    z = enc(x)
    hard = z + (z.round() - z).detach()
    loss = F.mse_loss(dec(hard), x)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% targets of a data frame as a column (read)
df = pd.read_csv("a.csv")
X = torch.tensor(df.drop(columns="y").values).float()
y = torch.tensor(df["y"].values).float().view(-1, 1)
model = nn.Linear(3, 1)
loss = F.mse_loss(model(X), y)


# %% two losses retained
import torch
import torch.nn as nn

torch.manual_seed(0)
body, a, b = nn.Linear(4, 8), nn.Linear(8, 1), nn.Linear(8, 1)
opt = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.01)
for _ in range(5):
    h = body(torch.randn(5, 4)).tanh()
    opt.zero_grad()
    a(h).pow(2).mean().backward(retain_graph=True)
    b(h).pow(2).mean().backward()
    opt.step()


# %% zeros in biases and the last layer
import torch
import torch.nn as nn
import torch.nn.functional as F

net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
for name, p in net.named_parameters():
    if "bias" in name:
        p.data *= 0
net[-1].weight.data = torch.zeros_like(net[-1].weight)
with torch.no_grad():
    net[0].weight[0].fill_(0.5)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x, y = torch.randn(32, 4), torch.randint(0, 2, (32,))
for _ in range(5):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()


# %% zeros in the last linear
import torch
from torch import nn


def start(m, value=0.1):
    if isinstance(m, nn.Linear) and m.out_features == 1:
        m.weight.data.fill_(0)
        m.bias.data.fill_(0.01)


net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
net.apply(start)
adam = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(100):
    x = torch.rand(64, 2)
    adam.zero_grad()
    nn.functional.mse_loss(net(x), x.prod(1, keepdim=True)).backward()
    adam.step()
