import argparse

import torch
import torch.nn as nn
from torch.utils.data import DataLoader


def build(width):
    encoder = nn.Sequential(nn.Linear(784, width), nn.ReLU())
    decoder = nn.Sequential(nn.Linear(width, 784), nn.Sigmoid())
    return nn.Sequential(encoder, decoder)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()

    model = build(args.width)
    loss_function = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    loader = DataLoader(load_images(), batch_size=64, shuffle=True)
    for epoch in range(args.epochs):
        total = 0.0
        for images in loader:
            images = images.view(images.size(0), -1)
            reconstruction = model(images)
            loss = loss_function(reconstruction, images)
            loss.backward()
            model.zero_grad()  #! 18
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch}: {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
