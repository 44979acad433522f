import copy

import torch
import torch.nn as nn

student = nn.Linear(8, 3)
teacher = copy.deepcopy(student)
for p in teacher.parameters():
    p.requires_grad_(False)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(3):
    x, y = torch.randn(16, 8), torch.randint(0, 3, (16,))
    target = teacher(x).softmax(1)
    s = student(x)
    loss = nn.functional.cross_entropy(s, y) + ((s.softmax(1) - target) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    for pt, ps in zip(teacher.parameters(), student.parameters()):
        pt.data.mul_(0.99).add_(ps.data, alpha=0.01)
