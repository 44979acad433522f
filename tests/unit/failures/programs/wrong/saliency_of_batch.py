import torch
from PIL import Image
from torchvision import models, transforms

prepare = transforms.Compose([transforms.Resize((224, 224)), transforms.ToTensor()])
image = prepare(Image.open("cat.jpg"))
image.requires_grad_()

network = models.resnet18(weights="IMAGENET1K_V1").eval()
batch = image.unsqueeze(0)
scores = network(batch)
scores[0, scores.argmax()].backward()
saliency = batch.grad.abs().max(dim=1).values  #! 5
print(saliency.shape)
