import torch


class Factors(torch.nn.Module):
    def __init__(self, users, items, k=20):
        super().__init__()
        self.u = torch.nn.Embedding(users, k, sparse=True)
        self.v = torch.nn.Embedding(items, k, sparse=True)
        self.bu = torch.nn.Embedding(users, 1, sparse=True)
        self.bv = torch.nn.Embedding(items, 1, sparse=True)
        for table in (self.bu, self.bv):
            torch.nn.init.zeros_(table.weight)

    def forward(self, user, item):
        pred = self.bu(user) + self.bv(item)
        pred += (self.u(user) * self.v(item)).sum(dim=1, keepdim=True)
        return pred.squeeze()


model = Factors(1000, 2000)
optimizer = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
loss_func = torch.nn.MSELoss()
rows, cols = ratings.nonzero()
for i in torch.randperm(len(rows)):
    optimizer.zero_grad()
    rating = torch.tensor(float(ratings[rows[i], cols[i]]))
    prediction = model(torch.tensor([int(rows[i])]), torch.tensor([int(cols[i])]))
    loss_func(prediction, rating).backward()
    optimizer.step()
