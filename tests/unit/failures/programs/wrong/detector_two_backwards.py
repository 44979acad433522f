import torch


def step(detector, batch, optimizer, weights):
    images, targets = batch
    features = detector.backbone(images)
    boxes = detector.box_head(features)
    scores = detector.class_head(features)
    box_loss = torch.nn.functional.smooth_l1_loss(boxes, targets["boxes"])
    class_loss = torch.nn.functional.cross_entropy(scores, targets["labels"])
    optimizer.zero_grad()
    (weights[0] * box_loss).backward()
    (weights[1] * class_loss).backward()  #! 2
    optimizer.step()
    return box_loss.item(), class_loss.item()
