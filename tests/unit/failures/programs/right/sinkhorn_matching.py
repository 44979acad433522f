import torch


def log_sinkhorn(cost, epsilon=0.1, rounds=50):
    n, m = cost.shape
    log_k = -cost / epsilon
    u = torch.zeros(n)
    v = torch.zeros(m)
    for _ in range(rounds):
        u = -torch.logsumexp(log_k + v[None, :], dim=1)
        v = -torch.logsumexp(log_k + u[:, None], dim=0)
    return (log_k + u[:, None] + v[None, :]).exp()


source = torch.randn(30, 2, requires_grad=True)
target = torch.randn(40, 2) + 3
opt = torch.optim.Adam([source], lr=0.05)
trajectory = [source.detach().clone()]
for step in range(200):
    cost = torch.cdist(source, target) ** 2
    with torch.no_grad():
        plan = log_sinkhorn(cost)
    distance = (plan * cost).sum()
    opt.zero_grad()
    distance.backward()
    opt.step()
    trajectory.append(source.detach().clone())
