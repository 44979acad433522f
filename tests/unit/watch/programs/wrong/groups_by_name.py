import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 8)
        self.scale = nn.Parameter(torch.ones(8))
        self.out = nn.Linear(8, 3)

    def forward(self, ids):
        return self.out(self.words(ids) * self.scale)


torch.manual_seed(10)
net = Tagger()
weights = [p for n, p in net.named_parameters() if n.endswith("weight")]  #! 19
biases = [p for n, p in net.named_parameters() if n.endswith("bias")]
opt = torch.optim.AdamW([{"params": weights, "weight_decay": 0.1}, {"params": biases, "weight_decay": 0.0}], lr=0.01)
for ids in torch.randint(20, (12, 32)):
    loss = nn.functional.cross_entropy(net(ids), ids % 3)
    opt.zero_grad()
    loss.backward()
    opt.step()
