import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
net = nn.Linear(8, 4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(10):
    x, y = torch.randn(16, 8), torch.randint(3, (16,))
    z = F.normalize(net(x), dim=1)
    mask = (y.view(-1, 1) == y).float() - torch.eye(16)
    sim = z @ z.T / 0.1
    logp = sim - torch.logsumexp(sim - 1e9 * torch.eye(16), 1, keepdim=True)
    loss = -(mask * logp).sum() / mask.sum()
    opt.zero_grad(); loss.backward(); opt.step()
