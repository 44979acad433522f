import torch
from torch import nn


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(4, 8)
        self.out = nn.Linear(8, 2)
        self.memory = None

    def forward(self, steps):
        state = self.memory
        if state is None:
            state = torch.zeros(steps.size(1), 8)
        for step in steps:
            state = self.cell(step, state)
        self.memory = state.detach()
        return self.out(state)


reader = Reader()
adam = torch.optim.Adam(reader.parameters(), lr=1e-3)
for _ in range(3):
    reader.memory = None
    for _ in range(10):
        scores = reader(torch.randn(5, 3, 4))
        loss = nn.functional.cross_entropy(scores, torch.randint(0, 2, (3,)))
        adam.zero_grad()
        loss.backward()
        adam.step()
