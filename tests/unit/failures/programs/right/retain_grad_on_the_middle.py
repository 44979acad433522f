import torch

a = torch.tensor(2.0, requires_grad=True)
c = a * 3
c.retain_grad()
loss = c.tanh()
loss.backward()
print(a.grad, c.grad)
