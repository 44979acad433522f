import torch
import torch.nn as nn

criterion = nn.CrossEntropyLoss()


def validate(model, val_loader):
    model.eval()
    val_loss = 0
    for images, labels in val_loader:
        outputs = model(images)  #! 12
        val_loss += criterion(outputs, labels)  #! 10
    return val_loss / len(val_loader)
