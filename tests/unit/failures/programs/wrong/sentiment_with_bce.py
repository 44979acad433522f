import torch
import torch.nn as nn


class Sentiment(nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, 32)
        self.head = nn.Linear(32, 1)

    def forward(self, text, offsets):
        return torch.sigmoid(self.head(self.emb(text, offsets))).squeeze(1)  #! 25


def train(dataloader, epochs=3):
    net = Sentiment(20000)
    loss_function = nn.BCEWithLogitsLoss()
    optim = torch.optim.Adam(params=net.parameters(), lr=1e-3)
    for epoch in range(epochs):
        epoch_loss = 0
        for text, offsets, label in dataloader:
            optim.zero_grad()
            out = net(text, offsets)
            loss = loss_function(out, label.float())
            loss.backward()
            optim.step()
            epoch_loss += loss.item()
        print(epoch_loss)


train(dataloader)
