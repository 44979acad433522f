import argparse

import torch
from torch import nn, optim


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=3)
    p.add_argument("--lr", type=float, default=15.0)  #! 17
    return p.parse_args()


def main():
    args = parse()
    model = nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 2))
    opt = optim.SGD(model.parameters(), lr=args.lr)
    for _ in range(args.epochs):
        for x, y in loader:
            opt.zero_grad()
            nn.CrossEntropyLoss()(model(x), y).backward()
            opt.step()


main()
