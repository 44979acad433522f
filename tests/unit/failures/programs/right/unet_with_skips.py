import torch
import torch.nn as nn


class DoubleConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.BatchNorm2d(o), nn.ReLU(inplace=True))

    def forward(self, x):
        return self.net(x)


class UNet(nn.Module):
    def __init__(self, features=(64, 128)):
        super().__init__()
        self.downs = nn.ModuleList()
        self.ups = nn.ModuleList()
        self.pool = nn.MaxPool2d(2, 2)
        channels = 3
        for f in features:
            self.downs.append(DoubleConv(channels, f))
            channels = f
        for f in reversed(features):
            self.ups.append(nn.ConvTranspose2d(f * 2, f, 2, 2))
            self.ups.append(DoubleConv(f * 2, f))
        self.bottleneck = DoubleConv(features[-1], features[-1] * 2)
        self.final = nn.Conv2d(features[0], 1, 1)

    def forward(self, x):
        skips = []
        for down in self.downs:
            x = down(x)
            skips.append(x)
            x = self.pool(x)
        x = self.bottleneck(x)
        skips = skips[::-1]
        for i in range(0, len(self.ups), 2):
            x = self.ups[i](x)
            x = self.ups[i + 1](torch.cat((skips[i // 2], x), dim=1))
        return self.final(x)


def train_fn(loader, model, optimizer, loss_fn, scaler):
    for data, targets in loader:
        targets = targets.float().unsqueeze(1)
        with torch.cuda.amp.autocast():
            predictions = model(data)
            loss = loss_fn(predictions, targets)
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()


def check_accuracy(loader, model):
    model.eval()
    good = 0
    with torch.no_grad():
        for x, y in loader:
            preds = torch.sigmoid(model(x))
            preds = (preds > 0.5).float()
            good += (preds == y).sum()
    model.train()
    return good


model = UNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)
train_fn(loader, model, optimizer, nn.BCEWithLogitsLoss(), torch.cuda.amp.GradScaler())
