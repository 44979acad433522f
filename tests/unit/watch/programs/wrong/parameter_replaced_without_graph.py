import torch


def moved(tensor, rate):
    with torch.no_grad():
        return tensor - rate * tensor.grad  #! 4


torch.manual_seed(0)
w = torch.randn(4, requires_grad=True)
for _ in range(3):
    loss = (w - 2).square().sum()
    loss.backward()
    w = moved(w, 0.05)
