import torch
import torch.nn.functional as F

model = torch.nn.Linear(5, 2)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 5), torch.randint(0, 2, (8,))
for _ in range(5):
    opt.zero_grad()
    with torch.no_grad():  #! 12
        logits = model(x)
    loss = F.cross_entropy(logits, y)
    loss.backward()
    opt.step()
