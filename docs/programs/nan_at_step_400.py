import torch

torch.manual_seed(0)
x = torch.randn(64, 2)
y = (x[:, 0] > 0).float()
w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.833)
for _ in range(600):
    p = torch.sigmoid(x @ w)
    loss = -(y * p.log() + (1 - y) * (1 - p).log()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
