import torch
import torch.nn.functional as F


def dice(probabilities, mask, eps=1.0):
    overlap = (probabilities * mask).sum((1, 2, 3))
    size = probabilities.sum((1, 2, 3)) + mask.sum((1, 2, 3))
    return 1 - ((2 * overlap + eps) / (size + eps)).mean()


def fit(unet, train_set, optimiser, scheduler, device, epochs):
    log = {"dice": [], "bce": []}
    for epoch in range(epochs):
        unet.train()
        for image, mask in train_set:
            image, mask = image.to(device), mask.to(device)
            logits = unet(image)
            bce = F.binary_cross_entropy_with_logits(logits, mask)
            overlap = dice(logits.sigmoid(), mask)
            loss = bce + overlap
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            log["bce"].append(bce.item())
            log["dice"].append(overlap)  #! 10
        scheduler.step()
    return log
