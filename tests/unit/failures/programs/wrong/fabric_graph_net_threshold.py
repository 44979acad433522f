import torch
from lightning.fabric import Fabric
from torch_geometric.nn import GCNConv


class GCN(torch.nn.Module):
    def __init__(self, features, hidden, classes):
        super().__init__()
        self.conv1 = GCNConv(features, hidden)
        self.conv2 = GCNConv(hidden, classes)

    def forward(self, data):
        x = self.conv1(data.x, data.edge_index).relu()
        return self.conv2(x, data.edge_index).squeeze(-1)


fabric = Fabric(accelerator="auto")
model, optimizer = fabric.setup(model := GCN(16, 32, 1), torch.optim.Adam(model.parameters(), lr=0.01))
for epoch in range(200):
    optimizer.zero_grad()
    logits = model(graph)[graph.train_mask]
    hard = (logits > 0).float()  #! 21
    loss = ((hard - graph.y[graph.train_mask]) ** 2).mean()
    fabric.backward(loss)
    optimizer.step()
