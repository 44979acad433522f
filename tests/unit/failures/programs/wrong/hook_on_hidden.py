import torch

x = torch.linspace(-1, 1, 50).unsqueeze(1)
w = torch.randn(1, 10, requires_grad=True)
v = torch.randn(10, 1, requires_grad=True)
hidden = torch.tanh(x @ w)
out = hidden @ v
loss = (out**2).mean()
loss.backward()
print("w", w.grad.norm())
print("v", v.grad.norm())
print("hidden", hidden.grad.norm())  #! 5
