import torch
import torch.nn.functional as F

from model import UNet

net = UNet(3, 2)
params = [p for p in net.parameters() if p.requires_grad]
for x, y in torch.utils.data.DataLoader([]):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    with torch.no_grad():
        for p in params:
            p -= 0.01 * p.grad
            p.grad = None
