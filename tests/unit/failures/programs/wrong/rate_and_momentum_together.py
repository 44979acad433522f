import torch, torch.nn as nn

X = torch.randn(200, 10)
y = (X[:, 0] > 0).long()
net = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.SGD(net.parameters(), lr=2.0, momentum=0.95)  #! 17
for e in range(100):
    loss = nn.CrossEntropyLoss()(net(X), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
