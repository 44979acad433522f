import torch
import torch.nn as nn
torch.manual_seed(0)
class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.pos = nn.Embedding(20, 16), nn.Parameter(torch.zeros(12, 16))
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2)
        self.out = nn.Linear(16, 20, bias=False)
        self.out.weight = self.emb.weight
    def forward(self, t):
        mask = nn.Transformer.generate_square_subsequent_mask(t.shape[1])
        return self.out(self.body(self.emb(t) + self.pos, mask=mask, is_causal=True))
net = LM()
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
for _ in range(10):
    t = torch.randint(20, (8, 13))
    loss = nn.functional.cross_entropy(net(t[:, :-1]).flatten(0, 1), t[:, 1:].flatten())
    opt.zero_grad(set_to_none=True); loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
net.eval()
with torch.inference_mode():
    print(net(torch.randint(20, (1, 12)))[0, -1].argmax().item())
