import torch
from accelerate import Accelerator
from transformers import get_scheduler

accelerator = Accelerator(gradient_accumulation_steps=4)
model, optimizer, loader = accelerator.prepare(model, torch.optim.AdamW(model.parameters(), lr=5e-5), loader)
scheduler = get_scheduler("linear", optimizer, 100, 10000)
for epoch in range(3):
    model.train()
    total_loss = 0
    for step, batch in enumerate(loader):
        with accelerator.accumulate(model):
            outputs = model(**batch)
            loss = outputs.loss
            total_loss += loss.detach().float()
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
    model.eval()
    for batch in eval_loader:
        with torch.no_grad():
            outputs = model(**batch)
        predictions = outputs.logits.argmax(dim=-1)
        metric.add_batch(predictions=accelerator.gather(predictions), references=batch["labels"])
