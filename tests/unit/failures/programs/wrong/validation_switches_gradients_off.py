import torch
import torch.nn as nn

model = nn.Linear(4, 2)
optimizer = torch.optim.Adam(model.parameters())
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    for phase in ["train", "val"]:
        for x, y in loaders[phase]:
            optimizer.zero_grad()
            with torch.no_grad():  #! 12
                outputs = model(x)
                loss = criterion(outputs, y)
            if phase == "train":
                loss.backward()
                optimizer.step()
