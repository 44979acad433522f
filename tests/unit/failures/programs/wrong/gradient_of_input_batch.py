import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(10, 5), nn.ReLU(), nn.Linear(5, 2))
image = torch.rand(1, 10)  #! 4
model.eval()
logits = model(image)
score = logits[0, logits.argmax()]
score.backward()
saliency = image.grad.abs()
