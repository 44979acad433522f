import torch

torch.manual_seed(0)
precision = torch.float32  #! 23
w = torch.randn(4, dtype=precision, requires_grad=True)


def cost(v):
    return (v.sin() * v).sum()


cost(w).backward()
step, slopes = 1e-6, []
for place in range(4):
    nudge = torch.zeros(4, dtype=precision)
    nudge[place] = step
    slopes.append(((cost(w + nudge) - cost(w - nudge)) / (2 * step)).item())
print(slopes, w.grad)
