import torch

torch.manual_seed(0)
w = (0.3 * torch.randn(3, 3)).requires_grad_()
h = torch.ones(1, 3)
for _ in range(8):
    h = torch.tanh(h @ w)  #! 11
    loss = h.square().sum()
    loss.backward(retain_graph=True)
    w.grad = None
