import torch

device = torch.device("cuda")
theta = torch.zeros(10, requires_grad=True).to(device)  #! 5|19
opt = torch.optim.Adam([theta], lr=0.1)
target = torch.arange(10.0, device=device)
for _ in range(300):
    opt.zero_grad()
    loss = (theta - target).pow(2).sum()
    loss.backward()
    opt.step()
print(theta)
