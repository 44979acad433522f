import torch
import torch.nn.functional as F
net = torch.nn.Linear(3, 1)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
x = torch.randn(32, 3)
y = x.sum(1, keepdim=True)
weight = torch.rand(32)
for _ in range(30):
    each = F.mse_loss(net(x), y, reduction="none")
    loss = (weight * each).mean()  #! 8
    opt.zero_grad(); loss.backward(); opt.step()
