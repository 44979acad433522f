import torch
import torch.nn as nn
import torch.nn.functional as F


def conv(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(), nn.MaxPool2d(2))


class ProtoNet(nn.Module):
    def __init__(self, channels=1, hidden=64):
        super(ProtoNet, self).__init__()
        self.encoder = nn.Sequential(conv(channels, hidden), conv(hidden, hidden), conv(hidden, hidden), nn.Flatten())

    def loss(self, support, query):
        ways, shots, queries = support.size(0), support.size(1), query.size(1)
        both = torch.cat([support.flatten(0, 1), query.flatten(0, 1)])
        z = self.encoder(both)
        prototypes = z[: ways * shots].view(ways, shots, -1).mean(1)
        distances = torch.cdist(z[ways * shots :], prototypes).pow(2)
        log_p = F.log_softmax(-distances, dim=1).view(ways, queries, -1)
        target = torch.arange(ways).view(ways, 1, 1).expand(ways, queries, 1).long()
        loss = -log_p.gather(2, target).squeeze().view(-1).mean()
        _, y_hat = log_p.max(2)
        accuracy = torch.eq(y_hat, target.squeeze()).float().mean()
        return loss, {"loss": loss.item(), "acc": accuracy.item()}


net = ProtoNet()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 2000, gamma=0.5)
for episode in episodes:
    optimizer.zero_grad()
    loss, report = net.loss(episode["xs"], episode["xq"])
    loss.backward()
    optimizer.step()
    schedule.step()
