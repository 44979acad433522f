from dataclasses import dataclass, field

import torch
import torch.nn as nn


@dataclass
class State:
    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: int = 0
    losses: list = field(default_factory=list)


def train_step(state, x, y):
    logits = state.model(x)
    loss = nn.functional.cross_entropy(logits, y)
    loss.backward()  #! 6
    state.optimizer.step()
    state.losses.append(loss.item())
    return state


model = nn.Linear(3, 3)
state = State(model, torch.optim.Adam(model.parameters()))
for x, y in loader:
    state = train_step(state, x, y)
