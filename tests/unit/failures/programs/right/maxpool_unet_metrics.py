import torch
from torch import nn
from torch.utils.tensorboard import SummaryWriter

writer = SummaryWriter()


def iou(logits, mask, threshold=0.5):
    predicted = torch.sigmoid(logits) > threshold
    mask = mask > 0.5
    overlap = (predicted & mask).sum().float()
    union = (predicted | mask).sum().float()
    return (overlap + 1e-6) / (union + 1e-6)


def run(model, loader, loss_fn, optimizer=None):
    training = optimizer is not None
    model.train(training)
    total_loss = total_iou = 0.0
    with torch.set_grad_enabled(training):
        for x, mask in loader:
            logits = model(x)
            loss = loss_fn(logits, mask)
            if training:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total_loss += loss.item()
            total_iou += iou(logits, mask).item()
    return total_loss / len(loader), total_iou / len(loader)


def fit(model, train_loader, valid_loader, epochs):
    loss_fn = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.NAdam(model.parameters(), lr=1e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=2)
    for epoch in range(epochs):
        train_loss, train_iou = run(model, train_loader, loss_fn, optimizer)
        valid_loss, valid_iou = run(model, valid_loader, loss_fn)
        plateau.step(valid_loss)
        writer.add_scalars("loss", {"train": train_loss, "valid": valid_loss}, epoch)
        writer.add_scalars("iou", {"train": train_iou, "valid": valid_iou}, epoch)
