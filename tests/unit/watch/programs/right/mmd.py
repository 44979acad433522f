import torch
torch.manual_seed(0)
g = torch.nn.Linear(1, 1)
opt = torch.optim.Adam(g.parameters(), lr=0.05)
for _ in range(30):
    a, b = g(torch.randn(40, 1)).squeeze(1), torch.randn(40) * 2 + 1
    kab = (-(a[:, None] - b).abs()).exp()
    kaa = (-(a[:, None] - a).abs()).exp()
    loss = kaa.mean() - 2 * kab.mean()
    opt.zero_grad(); loss.backward(); opt.step()
