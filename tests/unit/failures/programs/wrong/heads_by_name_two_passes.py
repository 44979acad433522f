import torch
from torch import nn


class Perception(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Linear(5, 9), nn.Tanh())
        self.branches = nn.ModuleDict({"depth": nn.Linear(9, 1), "edges": nn.Linear(9, 2)})

    def forward(self, image):
        stem = self.stem(image)
        return {name: branch(stem) for name, branch in self.branches.items()}


model = Perception()
adam = torch.optim.Adam(model.parameters())
image = torch.randn(6, 5)
wanted = {"depth": torch.rand(6, 1), "edges": torch.rand(6, 2)}
measure = {"depth": nn.L1Loss(), "edges": nn.MSELoss()}
adam.zero_grad()
answer = model(image)
for name, distance in measure.items():
    distance(answer[name], wanted[name]).backward()  #! 2
adam.step()
