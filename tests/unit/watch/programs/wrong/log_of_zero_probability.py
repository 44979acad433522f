import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
logits = torch.tensor([[200.0, 0.0], [0.0, 1.0]], requires_grad=True)
p = torch.softmax(logits, dim=1)
entropy = -(p * torch.log(p)).sum(dim=1).mean()  #! 9
entropy.backward()
