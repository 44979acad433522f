import torch
import torch.nn as nn


@torch.inference_mode()
def evaluate(model, loader, criterion):
    model.eval()
    total, correct, count = 0.0, 0, 0
    for x, y in loader:
        out = model(x)
        total += criterion(out, y) * len(y)
        correct += (out.argmax(1) == y).sum()
        count += len(y)
    model.train()
    return total / count, correct / count


model = nn.Linear(10, 3)
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(model.parameters(), lr=0.1)
loader = [(torch.randn(8, 10), torch.randint(0, 3, (8,))) for _ in range(4)]
for epoch in range(3):
    for x, y in loader:
        opt.zero_grad(set_to_none=True)
        criterion(model(x), y).backward()
        opt.step()
    print(evaluate(model, loader, criterion))
