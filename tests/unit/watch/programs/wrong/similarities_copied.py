import torch
from torch import nn


def contrastive(embeddings):
    sims = []
    for i in range(0, len(embeddings), 2):
        sims.append(torch.dot(embeddings[i], embeddings[i + 1]))
    return 1 - torch.tensor(sims).mean()  #! 4


torch.manual_seed(6)
net = nn.Sequential(nn.Linear(10, 16), nn.LayerNorm(16), nn.Linear(16, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for turn in range(5):
    out = nn.functional.normalize(net(torch.randn(12, 10)), dim=1)
    loss = contrastive(out)
    opt.zero_grad()
    loss.backward()
    opt.step()
