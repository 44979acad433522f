import torch
from torch import nn
torch.manual_seed(34)
class CRF(nn.Module):
    def __init__(self, k):
        super().__init__()
        self.move = nn.Parameter(torch.zeros(k, k))
    def forward(self, scores, tags):
        alpha, path = scores[:, 0], scores[:, 0].gather(1, tags[:, :1]).squeeze(1)
        for t in range(1, scores.shape[1]):
            alpha = torch.logsumexp(alpha[:, :, None] + self.move, 1) + scores[:, t]
            path = path + self.move[tags[:, t - 1], tags[:, t]] + scores[:, t].gather(1, tags[:, t : t + 1]).squeeze(1)
        return (torch.logsumexp(alpha, 1) - path).mean()
embed, rnn, out, crf = nn.Embedding(20, 8), nn.LSTM(8, 8, batch_first=True, bidirectional=True), nn.Linear(16, 3), CRF(3)
opt = torch.optim.Adam([p for m in (embed, rnn, out, crf) for p in m.parameters()], lr=1e-2)
for _ in range(15):
    words = torch.randint(20, (16, 6))
    loss = crf(out(rnn(embed(words))[0]), words % 3)
    opt.zero_grad()
    loss.backward()
    opt.step()
