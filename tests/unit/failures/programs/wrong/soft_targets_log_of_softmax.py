import torch
import torch.nn as nn
import torch.nn.functional as F


class Student(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(100, 10)

    def forward(self, x):
        return F.softmax(self.fc(x), dim=1)


def distill(student, teacher, x, T=4.0):
    p = student(x)
    with torch.no_grad():
        q = F.softmax(teacher(x) / T, dim=1)
    return -(q * torch.log(p)).sum(1).mean()  #! 9


student, teacher = Student(), nn.Linear(100, 10)
opt = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(5):
    opt.zero_grad()
    loss = distill(student, teacher, torch.randn(16, 100) * 1000)
    loss.backward()
    opt.step()
