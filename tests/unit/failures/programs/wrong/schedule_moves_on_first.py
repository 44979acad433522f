import torch

net = torch.nn.Linear(5, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=3, gamma=0.2)
rows, wanted = torch.randn(60, 5), torch.randn(60, 1)
for epoch in range(9):
    schedule.step()  #! 18
    for part in range(0, 60, 20):
        opt.zero_grad()
        loss = (net(rows[part : part + 20]) - wanted[part : part + 20]).pow(2).mean()
        loss.backward()
        opt.step()
