import torch


def fit(model, train_dl, loss_func, opt, epochs):
    for epoch in range(epochs):
        model.train()
        for xb, yb in train_dl:
            loss_func(model(xb), yb).backward()  #! 6
            opt.step()
