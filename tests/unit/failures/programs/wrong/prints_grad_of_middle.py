import torch

a = torch.tensor(2.0, requires_grad=True)
b = torch.tensor(-3.0, requires_grad=True)
c = a * b
d = c + a
loss = d.tanh()
loss.backward()
print(a.grad, b.grad)
print(c.grad)  #! 5
