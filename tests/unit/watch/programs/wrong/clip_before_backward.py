import torch

w = torch.ones(3, requires_grad=True)
optimizer = torch.optim.SGD([w], lr=0.1)
for _ in range(8):
    optimizer.zero_grad()
    loss = (w - 2).square().sum()
    torch.nn.utils.clip_grad_norm_([w], 1.0)  #! 18
    loss.backward()
    optimizer.step()
