import torch
from torch import nn
from torch.utils.checkpoint import checkpoint, checkpoint_sequential


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(4, 8)
        self.blocks = nn.Sequential(*[nn.Sequential(nn.Linear(8, 8), nn.ReLU()) for _ in range(4)])
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        x = checkpoint(self.stem, x, use_reentrant=False)
        x = checkpoint_sequential(self.blocks, 2, x, use_reentrant=False)
        return self.head(x)


net = Net()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(3):
    opt.zero_grad(set_to_none=True)
    nn.functional.mse_loss(net(torch.randn(8, 4)), torch.randn(8, 1)).backward()
    opt.step()
