from torch import nn, optim
import torch


class Bag(nn.Module):
    def __init__(self, V, D, C):
        super(Bag, self).__init__()
        self.E = nn.EmbeddingBag(V, D)
        self.U = nn.Linear(D, C)

    def forward(self, tokens, offsets):
        return self.U(self.E(tokens, offsets))


net = Bag(20000, 64, 4)
sgd = optim.SGD(net.parameters(), lr=0.5)
mse = nn.MSELoss()
for tokens, offsets, label in stream:
    sgd.zero_grad()
    guess = torch.argmax(net(tokens, offsets), dim=1)  #! 21
    loss = mse(guess.float(), label.float())
    loss.backward()
    sgd.step()
