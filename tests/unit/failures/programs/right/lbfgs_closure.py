import torch

x = torch.tensor([-1.5, 2.0], requires_grad=True)
opt = torch.optim.LBFGS([x], lr=1, max_iter=20)


def closure():
    opt.zero_grad()
    loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    loss.backward()
    return loss


for i in range(10):
    opt.step(closure)
    print(i, closure().item())
