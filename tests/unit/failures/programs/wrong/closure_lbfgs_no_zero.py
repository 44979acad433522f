import torch

x = torch.tensor([-1.5, 2.0], requires_grad=True)
opt = torch.optim.LBFGS([x], lr=1, max_iter=20)


def closure():
    loss = (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2
    loss.backward()  #! 6
    return loss


for i in range(10):
    opt.step(closure)
