import timm
import torch
from torch import nn


class Probe(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.backbone = timm.create_model("vit_small_patch16_224", pretrained=True, num_classes=0)
        self.head = nn.Linear(self.backbone.num_features, classes)

    @torch.no_grad()  #! 12
    def forward(self, x):
        return self.head(self.backbone(x))


probe = Probe(100)
opt = torch.optim.SGD(probe.head.parameters(), lr=0.1, momentum=0.9)
for x, y in loader:
    loss = nn.functional.cross_entropy(probe(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
