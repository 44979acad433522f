import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F


def build(hidden, classes):
    layers = [nn.Flatten(), nn.Linear(784, hidden), nn.ReLU()]
    layers.append(nn.Linear(hidden, classes))
    layers.append(nn.Softmax(dim=-1))  #! 25
    return nn.Sequential(*layers)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--hidden", type=int, default=128)
    parser.add_argument("--lr", type=float, default=0.01)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    net = build(args.hidden, 10)
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    for _ in range(args.epochs):
        for images, labels in get_loader():
            optimizer.zero_grad()
            F.cross_entropy(net(images), labels).backward()
            optimizer.step()


if __name__ == "__main__":
    main()
