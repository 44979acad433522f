import torch


class Runner:
    def __init__(self, model, optimizer, device="cuda"):
        self.model, self.opt, self.device = model, optimizer, device
        self.scaler = torch.cuda.amp.GradScaler()
        self.criterion = torch.nn.CrossEntropyLoss()

    def run_epoch(self, loader):
        for images, labels in loader:
            images, labels = images.to(self.device), labels.to(self.device)
            with torch.cuda.amp.autocast():
                loss = self.criterion(self.model(images), labels)
            self.scaler.scale(loss).backward()  #! 6
            self.scaler.step(self.opt)
            self.scaler.update()
