import torch
import torch.nn as nn

model = nn.Linear(5, 2)
loss_fn = nn.CrossEntropyLoss()
opt = torch.optim.Adam(model.parameters(), lr=1e-3)


def training_step(batch):
    x, y = batch
    loss = loss_fn(model(x), y)
    loss.backward()
    opt.zero_grad()  #! 18
    opt.step()
    return loss.item()


for epoch in range(3):
    losses = [training_step(b) for b in loader]
    print(sum(losses) / len(losses))
