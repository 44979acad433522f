import torch

layers = {"conv1": 1.0, "conv2": 0.75}
canvas = torch.rand(1, 3, 128, 128, requires_grad=True)
optimizer = torch.optim.Adam([canvas], lr=0.02)
for step in range(500):
    canvas.clamp_(0, 1)  #! 7
    features = extract(canvas)
    loss = sum(weight * (gram(features[name]) - wanted[name]).pow(2).mean() for name, weight in layers.items())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
