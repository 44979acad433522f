import torch
import torch.nn as nn
import torch.nn.functional as F


class SkipGram(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.u = nn.Embedding(vocab, dim, sparse=True)
        self.v = nn.Embedding(vocab, dim, sparse=True)
        self.v.weight.data.zero_()

    def forward(self, centre, context, negative):
        c = self.u(centre)
        score = F.logsigmoid((c * self.v(context)).sum(dim=1))
        neg = F.logsigmoid(-torch.bmm(self.v(negative), c.unsqueeze(2)).squeeze(2)).sum(dim=1)
        return -(score + neg).mean()


model = SkipGram(1000, 50)
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=1e-3)
for epoch in range(5):
    running = []
    for c, o, n in loader:
        optimizer.zero_grad()
        loss = model(c, o, n)
        loss.backward()
        optimizer.step()
        running.append(loss.item())
    print(sum(running) / len(running))
