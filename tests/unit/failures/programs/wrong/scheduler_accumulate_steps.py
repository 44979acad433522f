import torch


def train(model, loader, optimizer, scheduler, grad_accum_steps=4):
    model.train()
    for step, (x, y) in enumerate(loader):
        logits = model(x)
        loss = torch.nn.functional.cross_entropy(logits, y)
        loss.backward()  #! 24
        if (step + 1) % grad_accum_steps == 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
