import torch


def slopes(f, place, width=1e-6):  #! 23
    found = torch.zeros_like(place)
    for i in range(place.numel()):
        side = torch.zeros_like(place)
        side[i] = width
        found[i] = (f(place + side) - f(place)) / width
    return found


place = torch.ones(3, requires_grad=True)
height = place.pow(3).sum()
height.backward()
print(place.grad, slopes(lambda p: p.pow(3).sum(), place.detach()))
