import torch
from torch import nn

torch.manual_seed(4)


class Matcher(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 4))
        self.judge = nn.Linear(8, 1)

    @torch.no_grad()  #! 12
    def sketch(self, item):
        return self.tower(item)

    def forward(self, left, right):
        return self.judge(torch.cat([self.sketch(left), self.sketch(right)], 1)).flatten()


net = Matcher()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for left in torch.randn(30, 32, 6):
    right = torch.where(torch.rand(32, 1) < 0.5, left, torch.randn(32, 6))
    same = (left == right).all(1).float()
    loss = nn.functional.binary_cross_entropy_with_logits(net(left, right), same)
    opt.zero_grad()
    loss.backward()
    opt.step()
with torch.no_grad():
    print(net.sketch(torch.ones(1, 6)).norm().item())
