import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(5)
policy = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 4))
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
worth = torch.rand(4)
for _ in range(20):
    scores, rewards = [], []
    for _ in range(3):
        choice = Categorical(logits=policy(torch.randn(10, 3)))
        action = choice.sample()
        scores.append(choice.log_prob(action))
        rewards.append(worth[action])
    advantage = torch.stack(rewards) - worth.mean()
    loss = (torch.stack(scores) * advantage).mean()  #! 18
    opt.zero_grad()
    loss.backward()
    opt.step()
