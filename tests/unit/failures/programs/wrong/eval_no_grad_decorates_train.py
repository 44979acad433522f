import torch


@torch.no_grad()  #! 12
def run(model, loader, criterion, optimizer=None):
    losses = []
    for x, y in loader:
        loss = criterion(model(x), y)
        if optimizer is not None:
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    return sum(losses) / len(losses)
