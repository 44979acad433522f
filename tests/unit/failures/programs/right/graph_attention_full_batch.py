import argparse
import time

import torch
import torch.nn.functional as F
from torch import nn


class GAT(nn.Module):
    def __init__(self, features, hidden, classes, dropout, alpha, heads):
        super().__init__()
        self.dropout = dropout
        self.attentions = [Head(features, hidden, dropout, alpha) for _ in range(heads)]
        for i, attention in enumerate(self.attentions):
            self.add_module(f"attention_{i}", attention)
        self.out = Head(hidden * heads, classes, dropout, alpha)

    def forward(self, x, adj):
        x = F.dropout(x, self.dropout, training=self.training)
        x = torch.cat([att(x, adj) for att in self.attentions], dim=1)
        return F.log_softmax(F.elu(self.out(x, adj)), dim=1)


class Head(nn.Module):
    def __init__(self, i, o, dropout, alpha):
        super().__init__()
        self.dropout = dropout
        self.W = nn.Parameter(torch.empty(i, o))
        self.a = nn.Parameter(torch.empty(2 * o, 1))
        nn.init.xavier_uniform_(self.W, gain=1.414)
        nn.init.xavier_uniform_(self.a, gain=1.414)
        self.leaky = nn.LeakyReLU(alpha)

    def forward(self, h, adj):
        Wh = h @ self.W
        n = Wh.size(1)
        e = self.leaky(Wh @ self.a[:n] + (Wh @ self.a[n:]).T)
        attention = torch.where(adj > 0, e, -9e15 * torch.ones_like(e))
        attention = F.dropout(F.softmax(attention, dim=1), self.dropout, training=self.training)
        return F.elu(attention @ Wh)


def train(epoch):
    t = time.time()
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    model.eval()
    output = model(features, adj)
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    print(epoch, loss_train.data.item(), loss_val.data.item(), time.time() - t)
    return loss_val.data.item()


adj, features, labels, idx_train, idx_val = load_data()
model = GAT(features.shape[1], 8, int(labels.max()) + 1, 0.6, 0.2, 8)
optimizer = torch.optim.Adam(model.parameters(), lr=0.005, weight_decay=5e-4)
loss_values = []
for epoch in range(1000):
    loss_values.append(train(epoch))
