import torch
from torch import nn

encoder = nn.Linear(20, 8)
clf = nn.Linear(8, 3)
dom = nn.Linear(8, 2)
optimizer = torch.optim.Adam([*encoder.parameters(), *clf.parameters(), *dom.parameters()])
ce = nn.CrossEntropyLoss()
for x, y, d in loader:
    z = encoder(x).relu()
    optimizer.zero_grad()
    cls_loss = ce(clf(z), y)
    cls_loss.backward()  #! 2
    dom_loss = ce(dom(z), d)
    dom_loss.backward()
    optimizer.step()
