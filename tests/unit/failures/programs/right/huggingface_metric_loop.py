import evaluate
import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader
from tqdm.auto import tqdm
from transformers import AutoModelForSequenceClassification, get_scheduler

accelerator = Accelerator(gradient_accumulation_steps=4)
model = AutoModelForSequenceClassification.from_pretrained("roberta-base", num_labels=2)
optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
train_dataloader = DataLoader(train, shuffle=True, batch_size=8)
eval_dataloader = DataLoader(valid, batch_size=8)
train_dataloader, eval_dataloader, model, optimizer = accelerator.prepare(
    train_dataloader, eval_dataloader, model, optimizer
)
num_epochs = 3
lr_scheduler = get_scheduler("linear", optimizer, 0, num_epochs * len(train_dataloader))
progress_bar = tqdm(range(num_epochs * len(train_dataloader)))
metric = evaluate.load("glue", "mrpc")

for epoch in range(num_epochs):
    model.train()
    for batch in train_dataloader:
        with accelerator.accumulate(model):
            outputs = model(**batch)
            loss = outputs.loss
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            lr_scheduler.step()
            optimizer.zero_grad()
        progress_bar.update(1)
    model.eval()
    for batch in eval_dataloader:
        with torch.no_grad():
            outputs = model(**batch)
        predictions = outputs.logits.argmax(dim=-1)
        metric.add_batch(predictions=predictions, references=batch["labels"])
    print(epoch, metric.compute())
