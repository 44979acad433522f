import torch
from torch import nn

torch.manual_seed(15)
net = nn.Sequential(nn.Linear(3, 8), nn.Dropout(0.2), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
data, held_out = torch.randn(5, 32, 3), torch.randn(40, 3)


def error():
    net.eval()
    answers = []
    for part in held_out.split(8):
        answer = net(part).squeeze(-1)
        answers.append(answer)  #! 10
    return (torch.cat(answers) - held_out.sum(1)).abs().mean()


for x in data:
    net.train()
    loss = nn.functional.mse_loss(net(x), x.sum(1, keepdim=True))
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(error().item())
