import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data.distributed import DistributedSampler


def setup(rank, world_size):
    os.environ["MASTER_ADDR"], os.environ["MASTER_PORT"] = "localhost", "12355"
    dist.init_process_group("nccl", rank=rank, world_size=world_size)


def average(value, world_size):
    dist.all_reduce(value)
    return value / world_size


def worker(rank, world_size, dataset):
    setup(rank, world_size)
    model = DDP(nn.Sequential(nn.Linear(10, 10), nn.ReLU(), nn.Linear(10, 5)).to(rank), device_ids=[rank])
    loss_fn = nn.MSELoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.001 * world_size)
    sampler = DistributedSampler(dataset)
    loader = torch.utils.data.DataLoader(dataset, batch_size=32, sampler=sampler)
    for epoch in range(10):
        sampler.set_epoch(epoch)
        running = torch.zeros(1, device=rank)
        for step, (x, y) in enumerate(loader):
            sync = (step + 1) % 4 == 0
            context = model.no_sync() if not sync else torch.enable_grad()
            with context:
                loss = loss_fn(model(x.to(rank)), y.to(rank)) / 4
                loss.backward()
            if sync:
                optimizer.step()
                optimizer.zero_grad()
            running += loss.detach()
        if rank == 0:
            print(epoch, average(running, world_size).item())
    dist.destroy_process_group()


if __name__ == "__main__":
    n = torch.cuda.device_count()
    mp.spawn(worker, args=(n, make_dataset()), nprocs=n, join=True)
