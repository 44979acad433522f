import torch
net = torch.nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.01)
x, y = torch.randn(40, 3), torch.randn(40, 1)
total = 0.0
for i in range(0, 40, 8):
    pred = net(x[i:i + 8])
    total = total + ((pred - y[i:i + 8]) ** 2).mean()  #! 11
    opt.zero_grad()
    total.backward()
    opt.step()
