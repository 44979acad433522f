import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
w = torch.tensor([1, 2, 3], requires_grad=True)  #! 22
