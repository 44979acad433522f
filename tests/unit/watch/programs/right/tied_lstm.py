import torch
from torch import nn
torch.manual_seed(3)
class LM(nn.Module):
    def __init__(self, v, d):
        super().__init__()
        self.embed, self.rnn = nn.Embedding(v, d), nn.LSTM(d, d, batch_first=True)
        self.out = nn.Linear(d, v, bias=False)
        self.out.weight = self.embed.weight
    def forward(self, x, state=None):
        h, state = self.rnn(self.embed(x), state)
        return self.out(h), state
net = LM(11, 16)
opt = torch.optim.AdamW(net.parameters(), lr=1e-2)
text, state = torch.randint(11, (4, 81)), None
for i in range(0, 80, 10):
    out, state = net(text[:, i : i + 10], state)
    state = tuple(s.detach() for s in state)
    loss = nn.functional.cross_entropy(out.flatten(0, 1), text[:, i + 1 : i + 11].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
