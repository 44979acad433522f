import torch
import torch.nn as nn


class QNet(nn.Module):
    def __init__(self, obs, act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs + act, 256), nn.ReLU(), nn.Linear(256, 1))

    def forward(self, s, a):
        return self.net(torch.cat([s, a], dim=-1)).squeeze(-1)


class Agent:
    def __init__(self, obs, act, gamma=0.99):
        self.q = QNet(obs, act)
        self.gamma = gamma
        self.q_optim = torch.optim.Adam(self.q.parameters(), lr=3e-4)

    def update(self, batch):
        s, a, r, s2, a2, done = batch
        y = r + self.gamma * (1 - done) * self.q(s2, a2)  #! 11
        td = self.q(s, a) - y
        q_loss = td.pow(2).mean()
        self.q_optim.zero_grad()
        q_loss.backward()
        self.q_optim.step()
        return q_loss.item()


agent = Agent(3, 1)
for batch in replay:
    agent.update(batch)
