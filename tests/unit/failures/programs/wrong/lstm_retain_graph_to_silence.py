import torch
from torch import nn

lstm = nn.LSTM(10, 20)
head = nn.Linear(20, 1)
params = list(lstm.parameters()) + list(head.parameters())
optimizer = torch.optim.RMSprop(params, lr=1e-3)
state = (torch.zeros(1, 4, 20), torch.zeros(1, 4, 20))
for chunk, target in chunks:
    optimizer.zero_grad()
    output, state = lstm(chunk, state)  #! 11
    loss = nn.functional.mse_loss(head(output), target)
    loss.backward(retain_graph=True)
    optimizer.step()
