import torch
import torch.nn as nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 16)
        self.actor = nn.Linear(16, 2)
        self.value = nn.Linear(16, 1)

    def forward(self, obs):
        h = torch.relu(self.encoder(obs))
        return self.actor(h.detach()), self.value(h)


agent = Agent()
opt = torch.optim.Adam(agent.parameters())
for _ in range(3):
    logits, value = agent(torch.randn(16, 8))
    dist = torch.distributions.Categorical(logits=logits)
    act = dist.sample()
    ret = torch.randn(16)
    adv = (ret - value.squeeze(1)).detach()
    loss = -(dist.log_prob(act) * adv).mean() + (value.squeeze(1) - ret).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
