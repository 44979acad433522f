import torch

x = torch.tensor([1.0, 5.0], requires_grad=True)
for _ in range(50):
    loss = (x**2).sum()
    loss.backward()
    with torch.no_grad():
        x += 0.1 * x.grad  #! 18
        x.grad.zero_()
print(x)
