import torch
import torch.nn as nn
import torch.nn.functional as F

teacher = nn.Linear(10, 5)
student = nn.Linear(10, 5)
teacher.eval()
optimizer = torch.optim.SGD(student.parameters(), lr=0.05)
T = 4.0
for x, y in loader:
    with torch.no_grad():
        soft = F.softmax(teacher(x) / T, dim=1)
    out = student(x)
    loss = F.kl_div(F.log_softmax(out / T, dim=1), soft, reduction="batchmean") * T * T + F.cross_entropy(out, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
