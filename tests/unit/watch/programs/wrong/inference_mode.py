import torch
import torch.nn as nn
backbone, head = nn.Linear(4, 8), nn.Linear(8, 2)
opt = torch.optim.Adam([*backbone.parameters(), *head.parameters()])
x, y = torch.randn(16, 4), torch.randint(2, (16,))
for _ in range(4):
    with torch.inference_mode():  #! 12
        f = backbone(x).relu()
    loss = nn.functional.cross_entropy(head(f), y)
    opt.zero_grad(); loss.backward(); opt.step()
