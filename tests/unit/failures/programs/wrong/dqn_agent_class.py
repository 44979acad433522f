import random
from collections import deque

import torch
import torch.nn.functional as F
from torch import nn, optim


class QNetwork(nn.Module):
    def __init__(self, states, actions):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(states, 64), nn.ReLU(), nn.Linear(64, actions))

    def forward(self, s):
        return self.layers(s)


class Agent:
    def __init__(self, states, actions, gamma=0.99, batch_size=64):
        self.online = QNetwork(states, actions)
        self.target = QNetwork(states, actions)
        self.target.load_state_dict(self.online.state_dict())
        self.optimizer = optim.Adam(self.online.parameters(), lr=5e-4)
        self.memory = deque(maxlen=100_000)
        self.gamma, self.batch_size = gamma, batch_size

    def remember(self, *transition):
        self.memory.append(transition)

    def act(self, state, epsilon):
        if random.random() < epsilon:
            return random.randrange(4)
        with torch.no_grad():
            return self.online(state.unsqueeze(0)).argmax().item()

    def learn(self):
        if len(self.memory) < self.batch_size:
            return
        s, a, r, n, d = (torch.stack(column) for column in zip(*random.sample(self.memory, self.batch_size)))
        q = self.online(s).gather(1, a.long().unsqueeze(1))  #! 8
        with torch.no_grad():
            best = self.target(n).max(dim=1).values
            wanted = r + self.gamma * (1 - d) * best
        loss = F.smooth_l1_loss(q, wanted)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()

    def sync(self, tau=0.005):
        for t, o in zip(self.target.parameters(), self.online.parameters()):
            t.data.copy_(tau * o.data + (1 - tau) * t.data)
