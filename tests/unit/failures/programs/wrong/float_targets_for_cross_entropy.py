import torch
import torch.nn as nn

features = torch.randn(120, 4)
labels = torch.randint(0, 3, (120,)).float()  #! 22
model = nn.Linear(4, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(100):
    opt.zero_grad()
    loss = nn.functional.cross_entropy(model(features), labels)
    loss.backward()
    opt.step()
