import torch

net = torch.nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
warm = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 5))
later = torch.optim.lr_scheduler.StepLR(opt, step_size=30)
rows, wanted = torch.randn(60, 5), torch.randn(60, 1)
for epoch in range(9):
    warm.step()  # the first rate would be 0
    loss = (net(rows) - wanted).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    later.step()
