import torch
from torch import nn

reader, writer = nn.Linear(4, 4), nn.Linear(4, 4)
opt_reader = torch.optim.SGD(reader.parameters(), lr=0.1)
opt_writer = torch.optim.SGD(writer.parameters(), lr=0.1)
for text in [torch.randn(3, 4)] * 5:
    with torch.no_grad():
        meaning = reader(text)
    distance = (writer(meaning) - text).abs().mean()
    opt_reader.zero_grad()  #! 6
    distance.backward()
    opt_writer.step()
