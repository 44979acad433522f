import torch
from torch import nn

trunk = nn.Sequential(nn.Linear(20, 64), nn.ReLU())
age_head = nn.Linear(64, 1)
sex_head = nn.Linear(64, 2)
params = list(trunk.parameters()) + list(age_head.parameters()) + list(sex_head.parameters())
opt = torch.optim.SGD(params, lr=0.01)

x = torch.randn(32, 20)
age = torch.randn(32, 1)
sex = torch.randint(0, 2, (32,))
for step in range(10):
    feats = trunk(x)
    loss_age = nn.functional.mse_loss(age_head(feats), age)
    loss_sex = nn.functional.cross_entropy(sex_head(feats), sex)
    opt.zero_grad()
    loss_age.backward()  #! 2
    loss_sex.backward()
    opt.step()
