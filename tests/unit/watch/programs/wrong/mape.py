import torch
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(32, 3)
y = x.abs().sum(1) + 1
for _ in range(30):
    pred = net(x)
    err = (y - pred) / y  #! 8
    loss = err.abs().mean()
    opt.zero_grad(); loss.backward(); opt.step()
