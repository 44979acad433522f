import torch

counts = torch.tensor([3, 1, 4, 1, 5], dtype=torch.int64, requires_grad=True)  #! 22
probs = counts / counts.sum()
entropy = -(probs * probs.log()).sum()
entropy.backward()
print(counts.grad)
