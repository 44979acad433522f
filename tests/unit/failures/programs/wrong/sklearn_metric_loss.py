import torch
from sklearn.metrics import mean_squared_error

model = torch.nn.Linear(4, 1)
opt = torch.optim.Adam(model.parameters())
x, y = torch.randn(32, 4), torch.randn(32, 1)
for _ in range(10):
    out = model(x)
    loss = torch.tensor(mean_squared_error(y.numpy(), out.detach().numpy()), requires_grad=True)  #! 13|4
    opt.zero_grad()
    loss.backward()
    opt.step()
