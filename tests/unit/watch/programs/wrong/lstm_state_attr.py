import torch
import torch.nn as nn
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.LSTM(3, 5, batch_first=True)
        self.out = nn.Linear(5, 2)
        self.state = None
    def forward(self, x):
        y, self.state = self.rnn(x, self.state)  #! 11
        return self.out(y)
net = Tagger()
opt = torch.optim.Adam(net.parameters())
for _ in range(4):
    loss = net(torch.randn(2, 6, 3)).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
