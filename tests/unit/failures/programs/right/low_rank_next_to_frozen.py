import torch
import torch.nn as nn
import torch.nn.functional as F


class LowRank(nn.Module):
    def __init__(self, frozen):
        super().__init__()
        self.frozen = frozen
        for weight in frozen.parameters():
            weight.requires_grad_(False)
        self.left = nn.Parameter(torch.randn(4, frozen.in_features) / 4)
        self.right = nn.Parameter(torch.zeros(frozen.out_features, 4))

    def forward(self, x):
        return self.frozen(x) + F.linear(F.linear(x, self.left), self.right)


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(10, 40)
        self.second = nn.Linear(40, 3)

    def forward(self, x):
        return self.second(F.gelu(self.first(x)))


classifier = Classifier()
for name in ("first", "second"):
    setattr(classifier, name, LowRank(getattr(classifier, name)))
learned = [w for w in classifier.parameters() if w.requires_grad]
optimizer = torch.optim.SGD(learned, lr=0.1)
data = torch.utils.data.TensorDataset(torch.randn(200, 10), torch.randint(0, 3, (200,)))
for x, y in torch.utils.data.DataLoader(data, batch_size=20):
    loss = F.cross_entropy(classifier(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
