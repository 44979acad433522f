import torch
from transformers import AutoModelForSequenceClassification

model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased")
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
scaler = torch.cuda.amp.GradScaler(enabled=True)
for epoch in range(3):
    for step, batch in enumerate(train_loader):
        with torch.cuda.amp.autocast():
            loss = model(**batch).loss / 2
        scaler.scale(loss).backward()
        if (step + 1) % 2 == 0 or step + 1 == len(train_loader):
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
