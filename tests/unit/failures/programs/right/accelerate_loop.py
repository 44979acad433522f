import torch
from accelerate import Accelerator
from torch import nn

accelerator = Accelerator(gradient_accumulation_steps=2)
net = nn.Linear(3, 1)
opt = torch.optim.AdamW(net.parameters(), lr=1e-3)
loader = torch.utils.data.DataLoader(
    dataset=torch.utils.data.TensorDataset(torch.randn(32, 3), torch.randn(32, 1)), batch_size=8
)
net, opt, loader = accelerator.prepare(net, opt, loader)
for x, y in loader:
    with accelerator.accumulate(net):
        loss = nn.functional.mse_loss(net(x), y)
        accelerator.backward(loss=loss)
        opt.step()
        opt.zero_grad()
