import os

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def main(rank, world):
    os.environ["MASTER_ADDR"] = "localhost"
    torch.distributed.init_process_group("gloo", rank=rank, world_size=world)
    net = DDP(nn.Linear(3, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.01)
    for i in range(4):
        x, y = torch.randn(8, 3), torch.randn(8, 1)
        if i % 2 == 0:
            with net.no_sync():
                nn.functional.mse_loss(net(x), y).div(2).backward()
        else:
            nn.functional.mse_loss(net(x), y).div(2).backward()
            opt.step()
            opt.zero_grad()
    torch.distributed.destroy_process_group()


if __name__ == "__main__" and "RANK" in os.environ:
    main(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
