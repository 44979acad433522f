import torch
import torch.nn as nn
import torch.nn.functional as F


class Expert(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)

    def forward(self, x):
        return self.down(F.gelu(self.up(x)))


class MixtureOfExperts(nn.Module):
    def __init__(self, width, hidden, n_experts, k=2):
        super().__init__()
        self.k = k
        self.gate = nn.Linear(width, n_experts, bias=False)
        self.experts = []  #! 19
        for _ in range(n_experts):
            self.experts.append(Expert(width, hidden))

    def forward(self, x):
        weights, chosen = F.softmax(self.gate(x), dim=-1).topk(self.k, dim=-1)
        out = torch.zeros_like(x)
        for slot in range(self.k):
            for number, expert in enumerate(self.experts):
                mask = (chosen[:, slot] == number).unsqueeze(-1).float()
                out = out + mask * weights[:, slot : slot + 1] * expert(x)
        return out


moe = MixtureOfExperts(64, 256, 8)
head = nn.Linear(64, 10)
optimizer = torch.optim.AdamW(list(moe.parameters()) + list(head.parameters()), lr=3e-4)
