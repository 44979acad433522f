# %% episode with a critic
import torch
from torch import nn

torch.manual_seed(15)
actor, critic = nn.Linear(3, 4), nn.Linear(3, 1)
for_actor, for_critic = torch.optim.Adam(actor.parameters(), lr=0.01), torch.optim.Adam(critic.parameters(), lr=0.01)
for _ in range(4):
    chances, gaps = [], []
    for state in torch.randn(8, 3):
        choice = torch.distributions.Categorical(logits=actor(state))
        action = choice.sample()
        chances.append(choice.log_prob(action))
        gap = (action == state.argmax()).float() - critic(state)[0]
        gaps.append(gap.detach())
        for_critic.zero_grad()
        gap.square().backward()
        for_critic.step()
    print("mean log-probability", torch.stack(chances).mean().item())
    loss = -(torch.stack(chances) * torch.stack(gaps)).mean()
    for_actor.zero_grad()
    loss.backward()
    for_actor.step()
    print("after the step", torch.stack(chances).mean().item())
