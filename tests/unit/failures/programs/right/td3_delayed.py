import copy
import torch
import torch.nn.functional as F


class TD3(object):
    def __init__(self, actor, critic, max_action, discount=0.99, tau=0.005, noise=0.2, clip=0.5, every=2):
        self.actor, self.critic = actor, critic
        self.actor_target, self.critic_target = copy.deepcopy(actor), copy.deepcopy(critic)
        self.actor_optimizer = torch.optim.Adam(self.actor.parameters(), lr=3e-4)
        self.critic_optimizer = torch.optim.Adam(self.critic.parameters(), lr=3e-4)
        self.max_action, self.discount, self.tau = max_action, discount, tau
        self.noise, self.clip, self.every = noise, clip, every
        self.total_it = 0

    def select_action(self, state):
        state = torch.FloatTensor(state.reshape(1, -1))
        return self.actor(state).cpu().data.numpy().flatten()

    def train(self, replay, batch_size=256):
        self.total_it += 1
        state, action, following, reward, not_done = replay.sample(batch_size)
        with torch.no_grad():
            noise = (torch.randn_like(action) * self.noise).clamp(-self.clip, self.clip)
            next_action = (self.actor_target(following) + noise).clamp(-self.max_action, self.max_action)
            q1, q2 = self.critic_target(following, next_action)
            target = reward + not_done * self.discount * torch.min(q1, q2)
        now1, now2 = self.critic(state, action)
        critic_loss = F.mse_loss(now1, target) + F.mse_loss(now2, target)
        self.critic_optimizer.zero_grad()
        critic_loss.backward()
        self.critic_optimizer.step()
        if self.total_it % self.every == 0:
            actor_loss = -self.critic.Q1(state, self.actor(state)).mean()
            self.actor_optimizer.zero_grad()
            actor_loss.backward()
            self.actor_optimizer.step()
            for net, slow in ((self.critic, self.critic_target), (self.actor, self.actor_target)):
                for p, t in zip(net.parameters(), slow.parameters()):
                    t.data.copy_(self.tau * p.data + (1 - self.tau) * t.data)
