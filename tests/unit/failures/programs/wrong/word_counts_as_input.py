import torch
import torch.nn as nn

counts = torch.tensor([[1, 0, 2, 0], [0, 3, 0, 1], [2, 2, 0, 0]])  #! 22
labels = torch.tensor([0, 1, 0])


class LogReg(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 2)

    def forward(self, bow):
        return self.fc(bow)


clf = LogReg()
opt = torch.optim.SGD(clf.parameters(), lr=0.1)
for i in range(100):
    clf.zero_grad()
    loss = nn.CrossEntropyLoss()(clf(counts), labels)
    loss.backward()
    opt.step()
