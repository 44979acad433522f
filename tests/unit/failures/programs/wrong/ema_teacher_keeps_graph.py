import copy

import torch
import torch.nn.functional as F


class MeanTeacher:
    def __init__(self, student, lr=0.03, decay=0.99):
        self.student = student
        self.teacher = copy.deepcopy(student)
        self.decay = decay
        self.optimizer = torch.optim.SGD(student.parameters(), lr=lr, momentum=0.9)
        self.consistency_total = 0

    def step(self, labelled, y, unlabelled):
        supervised = F.cross_entropy(self.student(labelled), y)
        with torch.no_grad():
            target = self.teacher(unlabelled).softmax(1)
        consistency = F.mse_loss(self.student(unlabelled).softmax(1), target)
        loss = supervised + 10 * consistency
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.consistency_total += consistency  #! 10
        with torch.no_grad():
            for t, s in zip(self.teacher.parameters(), self.student.parameters()):
                t.mul_(self.decay).add_(s, alpha=1 - self.decay)
        return loss.item()
