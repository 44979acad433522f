import torch
import torch.nn as nn
import torch.nn.functional as F


def evaluate(model, x, y):
    model.eval()
    torch.set_grad_enabled(False)  #! 12
    return (model(x).argmax(1) == y).float().mean().item()


def main():
    model = nn.Linear(20, 4)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    x, y = torch.randn(64, 20), torch.randint(0, 4, (64,))
    for epoch in range(5):
        model.train()
        opt.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        opt.step()
        print(epoch, evaluate(model, x, y))


main()
