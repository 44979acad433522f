import torch

torch.manual_seed(0)
settings = {
    "turns": 30,
    "lr": 3.0,  #! 17
}
size = torch.randint(1, 9, (30, 1)).float()
cost = 20 * size + 5
w = torch.zeros(1, 1, requires_grad=True)
opt = torch.optim.SGD([w], lr=settings["lr"])
for _ in range(settings["turns"]):
    opt.zero_grad()
    loss = ((size @ w - cost) ** 2).mean()
    loss.backward()
    opt.step()
