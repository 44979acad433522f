import torch, torch.nn as nn

x = torch.arange(0, 100).float().unsqueeze(1)
y = 2 * x + 1
model = nn.Sequential(nn.Linear(1, 1))
opt = torch.optim.SGD(model.parameters(), lr=1e-2)  #! 17
for i in range(50):
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    opt.step()
