import torch

params = {
    "W1": torch.zeros(20, 50),  #! 16
    "b1": torch.zeros(50),
    "W2": torch.zeros(50, 5),
    "b2": torch.zeros(5),
}
for p in params.values():
    p.requires_grad_(True)


def forward(x):
    h = torch.tanh(x @ params["W1"] + params["b1"])
    return h @ params["W2"] + params["b2"]


for x, y in loader:
    loss = torch.nn.functional.cross_entropy(forward(x), y)
    grads = torch.autograd.grad(loss, list(params.values()))
    with torch.no_grad():
        for (name, p), g in zip(params.items(), grads):
            p -= 0.1 * g
