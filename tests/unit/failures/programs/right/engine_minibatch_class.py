import numpy as np

from model import Adam, Linear, Tensor, cross_entropy, no_grad


class Classifier:
    def __init__(self, sizes, seed=0):
        rng = np.random.default_rng(seed)
        self.layers = [Linear(a, b, rng=rng) for a, b in zip(sizes, sizes[1:])]

    def parameters(self):
        return [p for layer in self.layers for p in layer.parameters()]

    def __call__(self, x):
        for layer in self.layers[:-1]:
            x = layer(x).relu()
        return self.layers[-1](x)

    def fit(self, x, labels, epochs=20, batch=32, lr=0.01):
        optimizer = Adam(self.parameters(), lr=lr)
        rng = np.random.default_rng(1)
        history = []
        for _ in range(epochs):
            total = 0.0
            for rows in np.array_split(rng.permutation(len(x)), len(x) // batch):
                loss = cross_entropy(self(Tensor(x[rows])), labels[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                total += loss.item() * len(rows)
            history.append(total / len(x))
        return history

    def accuracy(self, x, labels):
        with no_grad():
            return float((self(Tensor(x)).data.argmax(axis=1) == labels).mean())
