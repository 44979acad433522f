import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 128)
        self.pi = nn.Linear(128, 2)
        self.v = nn.Linear(128, 1)
        self.saved = []

    def forward(self, s):
        h = F.relu(self.body(s))
        return F.softmax(self.pi(h), dim=-1), self.v(h)


def choose(model, state):
    probabilities, value = model(torch.from_numpy(state).float())
    m = Categorical(probabilities)
    action = m.sample()
    model.saved.append((m.log_prob(action), value, m.entropy()))
    return action.item()


def finish(model, rewards, optimizer):
    R, returns = 0, []
    for r in rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-6)
    policy_losses, value_losses = [], []
    for (log_prob, value, entropy), R in zip(model.saved, returns):
        advantage = R - value.item()
        policy_losses.append(-log_prob * advantage - 0.01 * entropy)
        value_losses.append(F.smooth_l1_loss(value, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(policy_losses).sum() + torch.stack(value_losses).sum()
    loss.backward()
    optimizer.step()
    del model.saved[:]
    return loss.item()


def main(env):
    model = ActorCritic()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    running = 10
    while running < env.spec.reward_threshold:
        state, _ = env.reset()
        rewards, total = [], 0
        for t in range(10_000):
            state, reward, done, _, _ = env.step(choose(model, state))
            rewards.append(reward)
            total += reward
            if done:
                break
        running = 0.05 * total + 0.95 * running
        finish(model, rewards, optimizer)
