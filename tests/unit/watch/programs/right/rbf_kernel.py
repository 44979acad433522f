import torch
torch.manual_seed(0)
x = torch.randn(32)
centres = torch.nn.Parameter(torch.randn(32))
w = torch.nn.Parameter(torch.zeros(32))
opt = torch.optim.Adam([centres, w], lr=0.05)
y = x.sin()
for _ in range(30):
    k = (-(x[:, None] - centres).pow(2)).exp()
    loss = (k @ w - y).pow(2).mean()
    opt.zero_grad(); loss.backward(); opt.step()
