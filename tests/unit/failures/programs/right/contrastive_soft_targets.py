import torch
import torch.nn as nn
import torch.nn.functional as F

student = nn.Linear(32, 16)
teacher = nn.Linear(32, 16)
teacher.requires_grad_(False)
opt = torch.optim.AdamW(student.parameters(), lr=1e-4)
for x in loader:
    target = F.softmax(teacher(x), dim=-1)
    loss = F.cross_entropy(student(x), target)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for a, b in zip(teacher.parameters(), student.parameters()):
            a.data = 0.99 * a.data + 0.01 * b.data
