import torch
import torch.nn as nn
import torch.nn.functional as F


class Clip(nn.Module):
    def __init__(self):
        super().__init__()
        self.image = nn.Linear(32, 16)
        self.text = nn.Linear(24, 16)
        self.log_scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, image, text):
        i = F.normalize(self.image(image), dim=1)
        t = F.normalize(self.text(text), dim=1)
        scale = self.log_scale.exp().item()  #! 13
        return scale * i @ t.T


model = Clip()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)
for _ in range(5):
    logits = model(torch.randn(8, 32), torch.randn(8, 24))
    loss = F.cross_entropy(logits, torch.arange(8))
    opt.zero_grad()
    loss.backward()
    opt.step()
