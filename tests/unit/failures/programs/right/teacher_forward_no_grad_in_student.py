import torch
import torch.nn as nn


class Distiller(nn.Module):
    def __init__(self):
        super().__init__()
        self.teacher_net = nn.Linear(10, 5)
        self.student = nn.Linear(10, 5)

    def forward(self, x):
        with torch.no_grad():
            t = self.teacher_net(x).softmax(-1)
        return -(t * self.student(x).log_softmax(-1)).sum(-1).mean()


m = Distiller()
opt = torch.optim.SGD(m.student.parameters(), lr=0.1)
for _ in range(3):
    loss = m(torch.randn(4, 10))
    opt.zero_grad()
    loss.backward()
    opt.step()
