import numpy as np

N, D_in, H, D_out = 64, 1000, 100, 10
x, y = np.random.randn(N, D_in), np.random.randn(N, D_out)
w1, w2 = np.random.randn(D_in, H), np.random.randn(H, D_out)
for t in range(500):
    h = x.dot(w1)
    h_relu = np.maximum(h, 0)
    y_pred = h_relu.dot(w2)
    loss = np.square(y_pred - y).sum()
    grad_y = 2.0 * (y_pred - y)
    grad_w2 = h_relu.T.dot(grad_y)
    grad_h = grad_y.dot(w2.T)
    grad_h[h < 0] = 0
    w1 -= 1e-6 * x.T.dot(grad_h)
    w2 -= 1e-6 * grad_w2
