import torch
import torch.nn.functional as F
from torch import nn


class DDPG:
    def __init__(self, actor, critic, actor_target, critic_target, gamma=0.99, tau=0.005):
        self.actor, self.critic = actor, critic
        self.actor_target, self.critic_target = actor_target, critic_target
        self.actor_opt = torch.optim.Adam(actor.parameters(), lr=1e-4)
        self.critic_opt = torch.optim.Adam(critic.parameters(), lr=1e-3)
        self.gamma, self.tau = gamma, tau

    def update(self, s, a, r, n, done):
        with torch.no_grad():
            y = r + self.gamma * (1 - done) * self.critic_target(n, self.actor_target(n))
        critic_loss = F.mse_loss(self.critic(s, a), y)
        self.critic_opt.zero_grad()
        critic_loss.backward()
        self.critic_opt.step()

        actor_loss = self.critic(s, self.actor(s).detach()).mean().neg()  #! 11
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()
