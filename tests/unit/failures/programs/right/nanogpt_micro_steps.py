import math
import time
from contextlib import nullcontext

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
ctx = nullcontext() if device == "cpu" else torch.amp.autocast(device_type="cuda", dtype=torch.bfloat16)
scaler = torch.cuda.amp.GradScaler(enabled=False)
gradient_accumulation_steps, grad_clip = 40, 1.0
learning_rate, min_lr, warmup, decay_iters = 6e-4, 6e-5, 2000, 600_000


@torch.no_grad()
def estimate_loss(model, eval_iters=200):
    out = {}
    model.eval()
    for split in ["train", "val"]:
        losses = torch.zeros(eval_iters)
        for k in range(eval_iters):
            X, Y = get_batch(split)
            with ctx:
                _, loss = model(X, Y)
            losses[k] = loss.item()
        out[split] = losses.mean()
    model.train()
    return out


def get_lr(it):
    if it < warmup:
        return learning_rate * (it + 1) / (warmup + 1)
    if it > decay_iters:
        return min_lr
    ratio = (it - warmup) / (decay_iters - warmup)
    return min_lr + 0.5 * (1.0 + math.cos(math.pi * ratio)) * (learning_rate - min_lr)


model = GPT(config).to(device)
optimizer = model.configure_optimizers(0.1, learning_rate, (0.9, 0.95), device)
model = torch.compile(model)
X, Y = get_batch("train")
t0, iter_num = time.time(), 0
while True:
    for group in optimizer.param_groups:
        group["lr"] = get_lr(iter_num)
    if iter_num % 2000 == 0:
        print(estimate_loss(model))
    for micro_step in range(gradient_accumulation_steps):
        with ctx:
            logits, loss = model(X, Y)
            loss = loss / gradient_accumulation_steps
        X, Y = get_batch("train")
        scaler.scale(loss).backward()
    if grad_clip != 0.0:
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), grad_clip)
    scaler.step(optimizer)
    scaler.update()
    optimizer.zero_grad(set_to_none=True)
    iter_num += 1
    if iter_num > 600_000:
        break
