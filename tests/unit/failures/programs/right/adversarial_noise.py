import torch
import torch.nn.functional as F

x = torch.randn(128, 3)
y = (x.sum(dim=1) > 0).long()
net = torch.nn.Sequential(torch.nn.Linear(3, 16), torch.nn.ReLU(), torch.nn.Linear(16, 2))
noise = torch.zeros_like(x, requires_grad=True)
learner = torch.optim.SGD(net.parameters(), lr=0.1)
attacker = torch.optim.SGD([noise], lr=10.0, maximize=True)
for epoch in range(50):
    loss = F.cross_entropy(net(x + noise), y)
    learner.zero_grad()
    attacker.zero_grad()
    loss.backward()
    learner.step()
    attacker.step()
    with torch.no_grad():
        noise.clamp_(-0.1, 0.1)
