import torch
from torch import nn


def grouped(model, decay):
    with_decay, without = [], []
    for name, p in model.named_parameters():
        if not p.requires_grad:
            continue
        (without if p.ndim == 1 or name.endswith(".bias") else with_decay).append(p)
    return [{"params": with_decay, "weight_decay": decay}, {"params": without, "weight_decay": 0.0}]


def cosine(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return step / max(1, warmup)
        return 0.5 * (1 + torch.cos(torch.tensor((step - warmup) / (total - warmup) * torch.pi)).item())

    return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)


def main(model: nn.Module, train_dl, valid_dl, epochs=100):
    optimizer = torch.optim.AdamW(grouped(model, 0.05), lr=1e-3)
    scheduler = cosine(optimizer, 500, epochs * len(train_dl))
    best = 0.0
    for epoch in range(epochs):
        model.train()
        for x, y in train_dl:
            loss = nn.functional.cross_entropy(model(x), y, label_smoothing=0.1)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad(set_to_none=True)
        model.eval()
        right = total = 0
        with torch.inference_mode():
            for x, y in valid_dl:
                right += (model(x).argmax(-1) == y).sum().item()
                total += y.numel()
        if right / total > best:
            best = right / total
            torch.save(model.state_dict(), "best.pt")
