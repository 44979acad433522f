import torch
import torch.nn as nn
from torch.distributions import Categorical


class ActorCritic(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.actor = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, actions), nn.Softmax(dim=-1))
        self.critic = nn.Sequential(nn.Linear(obs, 64), nn.Tanh(), nn.Linear(64, 1))

    def act(self, state):
        dist = Categorical(self.actor(state))
        action = dist.sample()
        return action.detach(), dist.log_prob(action).detach()

    def evaluate(self, state, action):
        dist = Categorical(self.actor(state))
        return dist.log_prob(action), self.critic(state), dist.entropy()


class PPO:
    def __init__(self, obs, actions, lr=3e-4, epochs=4, clip=0.2):
        self.policy = ActorCritic(obs, actions)
        self.policy_old = ActorCritic(obs, actions)
        self.policy_old.load_state_dict(self.policy.state_dict())
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.mse = nn.MSELoss()
        self.epochs, self.clip = epochs, clip

    def update(self, states, actions, logprobs, rewards):
        rewards = (rewards - rewards.mean()) / (rewards.std() + 1e-7)
        for _ in range(self.epochs):
            new, values, entropy = self.policy.evaluate(states, actions)
            values = torch.squeeze(values)
            ratios = torch.exp(new - logprobs.detach())
            advantages = rewards - values.detach()
            surr1 = ratios * advantages
            surr2 = torch.clamp(ratios, 1 - self.clip, 1 + self.clip) * advantages
            loss = -torch.min(surr1, surr2) + 0.5 * self.mse(values, rewards) - 0.01 * entropy
            self.optimizer.zero_grad()
            loss.mean().backward()
            self.optimizer.step()
        self.policy_old.load_state_dict(self.policy.state_dict())
