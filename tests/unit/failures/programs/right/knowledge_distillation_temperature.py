import torch
import torch.nn as nn
import torch.nn.functional as F

teacher = nn.Linear(20, 10).eval().requires_grad_(False)
student = nn.Linear(20, 10)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
T = 4.0
for _ in range(5):
    x, y = torch.randn(16, 20), torch.randint(0, 10, (16,))
    s = student(x)
    soft = F.kl_div(F.log_softmax(s / T, dim=1), F.softmax(teacher(x) / T, dim=1), reduction="batchmean") * T * T
    hard = F.cross_entropy(s, y)
    loss = 0.7 * soft + 0.3 * hard
    opt.zero_grad()
    loss.backward()
    opt.step()
