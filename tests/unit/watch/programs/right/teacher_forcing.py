import torch
from torch import nn
torch.manual_seed(24)
class Seq2Seq(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.embed, self.enc, self.cell, self.out = nn.Embedding(v, d), nn.GRU(d, d, batch_first=True), nn.GRUCell(d, d), nn.Linear(d, v)
    def forward(self, x, y):
        _, h = self.enc(self.embed(x))
        h, token, outs = h[0], torch.zeros(len(x), dtype=torch.long), []
        for t in range(y.shape[1]):
            h = self.cell(self.embed(token), h)
            logits = self.out(h)
            outs.append(logits)
            token = y[:, t] if torch.rand(1).item() < 0.5 else logits.argmax(1)
        return torch.stack(outs, 1)
net = Seq2Seq(7, 16)
opt = torch.optim.Adam(net.parameters(), lr=1e-2)
for _ in range(15):
    x = torch.randint(1, 7, (16, 5))
    loss = nn.functional.cross_entropy(net(x, x.flip(1)).flatten(0, 1), x.flip(1).flatten())
    opt.zero_grad()
    loss.backward()
    opt.step()
