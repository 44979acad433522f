import copy

import torch
from torch import nn

student = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 3))
teacher = copy.deepcopy(student)
opt = torch.optim.Adam(student.parameters(), lr=1e-3)
for step in range(3):
    x = torch.randn(8, 4)
    with torch.inference_mode():
        soft = torch.softmax(teacher(x), dim=1).clone()
    loss = nn.functional.kl_div(input=torch.log_softmax(student(x), dim=1), target=soft.clone(), reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for t, s in zip(teacher.parameters(), student.parameters()):
            t.lerp_(s, 0.01)
