from model import MLP, Adam, Tensor, cross_entropy

net = MLP([2, 32, 3], activation="relu")
opt = Adam(net.parameters(), lr=0.01)
for epoch in range(100):
    probabilities = net(Tensor(x)).softmax(axis=1)  #! 25
    loss = cross_entropy(probabilities, labels)
    net.zero_grad()
    loss.backward()
    opt.step()
