import torch


def hvp(loss, params, v):
    grads = torch.autograd.grad(loss, params, create_graph=True)
    dot = sum((g * x).sum() for g, x in zip(grads, v))
    return [h.detach() for h in torch.autograd.grad(dot, params)]


def inverse_hvp(model, loss_fn, loader, v, damping=0.01, scale=25.0):
    params = [p for p in model.parameters() if p.requires_grad]
    estimate = [x.clone() for x in v]
    for x, y in loader:
        product = hvp(loss_fn(model(x), y), params, estimate)
        estimate = [a + (1 - damping) * e - h / scale for a, e, h in zip(v, estimate, product)]
    return [e / scale for e in estimate]


def influence(model, loss_fn, loader, train_point, test_point):
    params = [p for p in model.parameters() if p.requires_grad]
    x, y = test_point
    v = torch.autograd.grad(loss_fn(model(x), y), params)
    s = inverse_hvp(model, loss_fn, loader, v)
    x, y = train_point
    g = torch.autograd.grad(loss_fn(model(x), y), params)
    return -sum((a * b).sum() for a, b in zip(s, g)).item()
