import torch
import torch.nn as nn

cell = nn.RNNCell(3, 6)
out = nn.Linear(6, 1)
opt = torch.optim.SGD(list(cell.parameters()) + list(out.parameters()), lr=0.05)
state = {"h": torch.zeros(2, 6)}


def advance(x):
    state["h"] = cell(x, state["h"])  #! 11
    return out(state["h"])


for x, y in [(torch.randn(2, 3), torch.randn(2, 1))] * 4:
    loss = (advance(x) - y).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
