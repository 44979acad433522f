import torch
import torch.nn as nn


def conv_block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))


class TinySegmenter(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(conv_block(3, 32), nn.MaxPool2d(2), conv_block(32, 64))
        self.up = nn.Upsample(scale_factor=2)
        self.last = nn.Conv2d(64, 1, 1)

    def forward(self, x):
        x = self.up(self.down(x))
        x = self.last(x)
        x = torch.sigmoid(x)  #! 25
        return x


@torch.compile
def train_step(model, criterion, optimizer, x, y):
    optimizer.zero_grad(set_to_none=True)
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    return loss.detach()


model = TinySegmenter().to(memory_format=torch.channels_last)
criterion = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(4.0))
optimizer = torch.optim.RAdam(model.parameters(), lr=1e-3)
for x, y in loader:
    print(train_step(model, criterion, optimizer, x, y).item())
