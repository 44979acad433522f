import torch
import torch.nn as nn

model = nn.Linear(3, 1)
opt = torch.optim.LBFGS(model.parameters(), lr=1, max_iter=20, line_search_fn="strong_wolfe")
x, y = torch.randn(50, 3), torch.randn(50, 1)
history = []


def closure():
    opt.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    history.append(loss.item())
    return loss


for _ in range(5):
    opt.step(closure)
