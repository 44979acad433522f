from transformers import BertModel, get_linear_schedule_with_warmup
import torch
from torch import nn
from tqdm.auto import tqdm


class Sentiment(nn.Module):
    def __init__(self, name="bert-base-uncased", classes=2):
        super().__init__()
        self.bert = BertModel.from_pretrained(name)
        self.drop = nn.Dropout(p=0.3)
        self.out = nn.Linear(self.bert.config.hidden_size, classes)
        self.softmax = nn.Softmax(dim=1)

    def forward(self, input_ids, attention_mask):
        pooled = self.bert(input_ids=input_ids, attention_mask=attention_mask).pooler_output
        return self.softmax(self.out(self.drop(pooled)))  #! 25


def train_epoch(model, data_loader, loss_fn, optimizer, device, scheduler):
    model = model.train()
    losses, correct = [], 0
    for d in tqdm(data_loader):
        ids = d["input_ids"].to(device)
        mask = d["attention_mask"].to(device)
        targets = d["targets"].to(device)
        outputs = model(ids, mask)
        _, preds = torch.max(outputs, dim=1)
        loss = loss_fn(outputs, targets)
        correct += torch.sum(preds == targets)
        losses.append(loss.item())
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        scheduler.step()
        optimizer.zero_grad()
    return correct.double() / len(data_loader.dataset), sum(losses) / len(losses)


model = Sentiment()
loss_fn = nn.CrossEntropyLoss()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-5)
scheduler = get_linear_schedule_with_warmup(optimizer, num_warmup_steps=0, num_training_steps=1000)
for epoch in range(10):
    train_epoch(model, loader, loss_fn, optimizer, "cuda", scheduler)
