import torch
import torch.nn as nn

model = nn.Linear(8, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
average = 0.0
for step in range(1000):
    x = torch.randn(32, 8)
    y = x.sum(dim=1, keepdim=True)
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    average = 0.99 * average + 0.01 * loss  #! 10
    if step % 100 == 0:
        print(step, average)
