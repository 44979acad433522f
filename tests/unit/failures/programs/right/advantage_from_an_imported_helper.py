import torch
from torch import nn
from tools import compute_advantage

policy, value = nn.Linear(4, 2), nn.Linear(4, 1)
p_opt = torch.optim.Adam(policy.parameters(), lr=1e-3)
v_opt = torch.optim.Adam(value.parameters(), lr=1e-2)
for _ in range(5):
    s, r, s2 = torch.randn(16, 4), torch.randn(16, 1), torch.randn(16, 4)
    td_target = r + 0.98 * value(s2)
    td_delta = td_target - value(s)
    advantage = compute_advantage(0.98, 0.95, td_delta)
    log_probs = torch.log_softmax(policy(s), 1)[:, :1]
    policy_loss = torch.mean(-log_probs * advantage)
    value_loss = torch.mean(nn.functional.mse_loss(value(s), td_target.detach()))
    p_opt.zero_grad()
    v_opt.zero_grad()
    policy_loss.backward()
    value_loss.backward()
    p_opt.step()
    v_opt.step()
