import torch
import torch.nn as nn
import torch.nn.functional as F

class ContrastiveLoss(nn.Module):
    def __init__(self):
        super().__init__()
        self.logit_scale = nn.Parameter(torch.tensor(2.6))
    def forward(self, a, b):
        logits = self.logit_scale.exp() * a @ b.t()
        return F.cross_entropy(logits, torch.arange(a.size(0)))


image_encoder = nn.Linear(4, 3)
text_encoder = nn.Linear(4, 3)
criterion = ContrastiveLoss()
optimizer = torch.optim.Adam(list(image_encoder.parameters()) + list(text_encoder.parameters()), lr=2e-3)  #! 19
for step in range(200):
    img, txt = torch.randn(8, 4), torch.randn(8, 4)
    loss = criterion(image_encoder(img), text_encoder(txt))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
