import torch
from torch import nn

values, frozen = nn.Linear(3, 4), nn.Linear(3, 4)
frozen.load_state_dict(values.state_dict())
opt = torch.optim.SGD(values.parameters(), lr=0.01)
now, later, move = torch.randn(12, 3), torch.randn(12, 3), torch.randint(0, 4, (12, 1))
gain = torch.rand(12)
for _ in range(5):
    with torch.no_grad():
        goal = 0.9 * frozen(later).max(dim=1, keepdim=True).values
    chosen = values(now).gather(1, move).squeeze(1) - gain
    error = (chosen - goal).square().mean()  #! 8
    opt.zero_grad()
    error.backward()
    opt.step()
