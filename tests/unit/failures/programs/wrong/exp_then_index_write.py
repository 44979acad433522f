import torch

logits = torch.randn(4, 4, requires_grad=True)
weights = torch.exp(logits)
weights[0] = 0.0  #! 1
loss = weights.sum()
loss.backward()
print(logits.grad)
