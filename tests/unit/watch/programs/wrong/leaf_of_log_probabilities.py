import torch
from torch import nn

torch.manual_seed(17)
policy = nn.Linear(3, 4)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for _ in range(12):
    chosen, worth = [], []
    for seen in torch.randn(5, 3):
        choice = torch.distributions.Categorical(logits=policy(seen))
        action = choice.sample()
        chosen.append(choice.log_prob(action))
        worth.append(float(action == seen.argmax()))
    chosen = torch.tensor(chosen, requires_grad=True)  #! 4
    loss = -(chosen * (torch.tensor(worth) - 0.3)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
