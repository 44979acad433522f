import torch
from torch import nn

torch.manual_seed(0)


class Style(nn.Module):
    def __init__(self):
        super().__init__()
        self.filters = nn.Conv2d(1, 4, 3)
        self.filters.requires_grad_(False)

    def statistics(self, image):
        return self.filters(image).relu().mean((2, 3))

    def forward(self, made, wanted):
        with torch.no_grad():
            goal = self.statistics(wanted)
            least = (goal - goal.mean(0)).square().mean()
        return (self.statistics(made) - goal).square().mean() - least


painter = nn.Conv2d(1, 1, 3, padding=1)
style = Style()
opt = torch.optim.Adam(painter.parameters(), lr=0.01)
sketches, paintings = torch.rand(16, 1, 9, 9), torch.rand(16, 1, 9, 9)
for _ in range(10):
    made = painter(sketches)
    loss = (made - sketches).abs().mean() + 5 * style(made, paintings)
    opt.zero_grad()
    loss.backward()
    opt.step()
