import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

student = nn.Linear(10, 3)
teacher = copy.deepcopy(student).eval()
for p in teacher.parameters():
    p.requires_grad = False
opt = torch.optim.SGD(student.parameters(), lr=0.1)
total = 0.0
for x, y in loader:
    out = student(x)
    with torch.no_grad():
        soft = F.softmax(teacher(x), dim=1)
    loss = F.cross_entropy(out, y) + F.kl_div(F.log_softmax(out, dim=1), soft, reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.mul_(0.99).add_(s, alpha=0.01)
    total += loss.detach()
