import torch
from sklearn.model_selection import KFold
from torch import nn


def reset_weights(m):
    if hasattr(m, "reset_parameters"):
        m.reset_parameters()


results = {}
for fold, (train_ids, test_ids) in enumerate(KFold(5).split(dataset)):
    network = nn.Sequential(nn.Flatten(), nn.Linear(784, 50), nn.ReLU(), nn.Linear(50, 10))
    network.apply(reset_weights)
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)
    loss_function = nn.CrossEntropyLoss()
    for epoch in range(3):
        current_loss = 0.0
        for i, data in enumerate(make_loader(train_ids), 0):
            inputs, targets = data
            optimizer.zero_grad()
            outputs = network(inputs)
            loss = loss_function(outputs, targets)
            loss.backward()
            optimizer.step()
            current_loss += loss.item()
            if i % 500 == 499:
                print(current_loss / 500)
                current_loss = 0.0
    correct, total = 0, 0
    with torch.no_grad():
        for inputs, targets in make_loader(test_ids):
            _, predicted = torch.max(network(inputs).data, 1)
            total += targets.size(0)
            correct += (predicted == targets).sum().item()
    results[fold] = 100.0 * correct / total
