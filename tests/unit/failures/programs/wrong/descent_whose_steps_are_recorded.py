import torch

centre = torch.tensor([1.0, -2.0])
place = torch.zeros(2, requires_grad=True)
for _ in range(30):
    height = ((place - centre) ** 2).sum()
    (slope,) = torch.autograd.grad(height, place)
    place = place - 0.1 * slope  #! 12
print(place)
