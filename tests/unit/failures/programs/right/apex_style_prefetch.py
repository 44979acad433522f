import time

import torch


class AverageMeter:
    def __init__(self):
        self.val = self.avg = self.sum = self.count = 0

    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count


def accuracy(output, target, topk=(1,)):
    with torch.no_grad():
        maxk = max(topk)
        _, pred = output.topk(maxk, 1, True, True)
        correct = pred.t().eq(target.view(1, -1).expand_as(pred.t()))
        return [correct[:k].reshape(-1).float().sum(0) * 100.0 / target.size(0) for k in topk]


def train(train_loader, model, criterion, optimizer, epoch, scaler, use_amp=True):
    batch_time, losses, top1 = AverageMeter(), AverageMeter(), AverageMeter()
    end = time.time()
    for i, (images, target) in enumerate(train_loader):
        with torch.autocast("cuda", enabled=use_amp):
            output = model(images)
            loss = criterion(output, target)
        if torch.isnan(loss):
            raise FloatingPointError("the loss is nan")
        acc1, _ = accuracy(output, target, topk=(1, 5))
        losses.update(loss.item(), images.size(0))
        top1.update(acc1.item(), images.size(0))
        optimizer.zero_grad()
        if use_amp:
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
        else:
            loss.backward()
            optimizer.step()
        batch_time.update(time.time() - end)
        end = time.time()
    return losses.avg, top1.avg


def validate(loader, model, criterion):
    losses, top1 = AverageMeter(), AverageMeter()
    model.eval()
    with torch.no_grad():
        for images, target in loader:
            output = model(images)
            losses.update(criterion(output, target), images.size(0))
            top1.update(accuracy(output, target)[0], images.size(0))
    return top1.avg
