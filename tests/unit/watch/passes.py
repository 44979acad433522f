"""Programs of PyTorch whose backward passes are recorded. Each function ends with its leaves.

A comment `#: a b` names the operations of the line below it, in the lab's words.
"""

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.checkpoint import checkpoint


def leaf(*shape):
    return torch.randn(*shape, requires_grad=True)


def mlp():
    net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2))
    #: linear relu
    out = net(torch.randn(6, 3))
    #: cross_entropy
    loss = F.cross_entropy(out, torch.tensor([0, 1, 1, 0, 1, 0]))
    loss.backward()
    return list(net.parameters())


def large_mlp():
    net = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10))
    #: linear relu cross_entropy
    loss = F.cross_entropy(net(torch.randn(32, 784)), torch.randint(10, (32,)))
    loss.backward()
    return list(net.parameters())


def convolution_with_batch_norm():
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )
    #: conv2d batch_norm relu max_pool2d flatten linear cross_entropy
    loss = F.cross_entropy(net(torch.randn(4, 1, 8, 8)), torch.tensor([0, 1, 2, 1]))
    loss.backward()
    return list(net.parameters())


class Attention(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        #: layer_norm linear chunk
        q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
        #: transpose @ /
        scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
        #: softmax
        weights = scores.softmax(dim=-1)
        #: @ linear +
        return x + self.out(weights @ v)


def attention_with_layer_norm():
    net = Attention()
    #: square mean
    loss = net(torch.randn(2, 5, 8)).square().mean()
    loss.backward()
    return list(net.parameters())


def two_attention_blocks():
    net = nn.Sequential(Attention(), Attention())
    #: square mean
    loss = net(torch.randn(2, 4, 8)).square().mean()
    loss.backward()
    return list(net.parameters())


def causal_attention():
    q, k, v = leaf(1, 4, 3), leaf(1, 4, 3), leaf(1, 4, 3)
    mask = torch.ones(4, 4).tril().bool()
    #: mT @ masked_fill
    scores = (q @ k.mT).masked_fill(~mask, float("-inf"))
    #: softmax @
    out = scores.softmax(-1) @ v
    #: sum
    out.sum().backward()
    return [q, k, v]


def fused_attention():
    q, k, v = leaf(1, 2, 4, 8), leaf(1, 2, 4, 8), leaf(1, 2, 4, 8)
    #: scaled_dot_product_attention
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    #: square sum
    out.square().sum().backward()
    return [q, k, v]


def multihead_attention():
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x = torch.randn(2, 5, 8)
    #: multi_head_attention_forward transpose
    out, _ = net(x, x, x)
    #: square mean
    out.square().mean().backward()
    return list(net.parameters())


def transformer_layer():
    net = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    #: multi_head_attention_forward transpose + layer_norm linear relu square mean
    loss = net(torch.randn(2, 5, 8)).square().mean()
    loss.backward()
    return list(net.parameters())


def lstm():
    net, head = nn.LSTM(3, 5, batch_first=True), nn.Linear(5, 1)
    #: lstm
    out, (_, c) = net(torch.randn(2, 4, 3))
    #: getitem linear square mean sum +
    loss = head(out[:, -1]).square().mean() + c.sum()
    loss.backward()
    return [*net.parameters(), *head.parameters()]


def gru():
    net = nn.GRU(3, 4)
    #: gru
    out, h = net(torch.randn(5, 2, 3))
    #: mean square +
    loss = out.mean() + h.square().mean()
    loss.backward()
    return list(net.parameters())


def rnn_cell_over_time():
    cell = nn.RNNCell(2, 3)
    h = torch.zeros(1, 3)
    for x in torch.randn(4, 1, 2):
        #: rnn_tanh_cell
        h = cell(x, h)
    #: sum
    h.sum().backward()
    return list(cell.parameters())


def recurrence_by_hand():
    w, u = leaf(3, 3), leaf(2, 3)
    h = torch.zeros(1, 3)
    for x in torch.randn(5, 1, 2):
        #: @ + tanh
        h = torch.tanh(h @ w + x @ u)
    #: ** sum
    loss = h.pow(2).sum()
    loss.backward()
    return [w, u]


def tied_embedding():
    table = nn.Embedding(7, 4)
    #: embedding mean
    hidden = table(torch.tensor([1, 2, 1, 5])).mean(0)
    #: linear
    logits = F.linear(hidden, table.weight)
    #: log_softmax getitem neg
    loss = -logits.log_softmax(0)[3]
    loss.backward()
    return [table.weight]


def sparse_embedding():
    table = nn.Embedding(7, 4, sparse=True)
    #: embedding sum
    table(torch.tensor([1, 2, 1])).sum().backward()
    return [table.weight]


def embedding_bag():
    table = nn.EmbeddingBag(6, 3, mode="mean")
    #: embedding_bag square sum
    loss = table(torch.tensor([1, 2, 4, 4]), torch.tensor([0, 2])).square().sum()
    loss.backward()
    return [table.weight]


def in_place_through_a_view():
    a, b = leaf(3, 3), leaf(3)
    #: *
    h = a * 2
    #: *-through-a-view
    h[0].mul_(b)
    #: +-through-a-view getitem + setitem
    h[:, 1] += 1.0
    #: square sum
    loss = h.square().sum()
    loss.backward()
    return [a, b]


def in_place_on_a_result():
    a = leaf(4)
    #: *
    h = a * 3
    #: +
    h.add_(1)
    #: relu
    h.relu_()
    #: sum
    h.sum().backward()
    return [a]


def assigned_into_a_buffer():
    a, b = leaf(2), leaf(2)
    out = torch.zeros(2, 2)
    #: * setitem
    out[0] = a * b
    #: - setitem
    out[1] = a - b
    #: prod
    out.prod().backward()
    return [a, b]


def a_view_read_after_a_write():
    a = leaf(4)
    #: *
    h = a * 2
    first = h[:2]
    #: * *-through-a-view
    h.mul_(3)
    #: getitem * sum
    loss = (first * h[2:]).sum()
    loss.backward()
    return [a]


class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, upstream):
        (x,) = ctx.saved_tensors
        return 2 * x * upstream


class Both(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, one, other):
        x, y = ctx.saved_tensors
        return one * y + other, one * x + other


def custom_function():
    a = leaf(3)
    #: * Square
    out = Square.apply(a * 2)
    #: sum
    out.sum().backward()
    return [a]


def custom_function_of_two_results():
    a, b = leaf(3), leaf(3)
    #: Both
    product, total = Both.apply(a, b)
    #: * sum
    (product * total).sum().backward()
    return [a, b]


class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, upstream):
        return upstream


def straight_through():
    a = leaf(4)
    #: Sign *
    out = Sign.apply(a) * a
    #: sum
    out.sum().backward()
    return [a]


def straight_through_by_detach():
    a = leaf(4)
    #: gt float
    hard = (a > 0).float()
    #: sigmoid
    soft = a.sigmoid()
    #: + detach -
    out = hard + soft - soft.detach()
    #: sum
    out.sum().backward()
    return [a]


class Residual(nn.Module):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        #: linear relu
        h = self.one(x).relu()
        #: linear +
        return x + self.two(h)


def residual():
    net = nn.Sequential(Residual(), Residual(), nn.Linear(4, 1))
    #: linear mean
    net(torch.randn(3, 4)).mean().backward()
    return list(net.parameters())


def gan_step():
    maker, judge = nn.Linear(2, 3), nn.Linear(3, 1)
    #: linear
    made = maker(torch.randn(4, 2))
    #: detach linear
    judged = judge(made.detach())
    #: binary_cross_entropy_with_logits
    F.binary_cross_entropy_with_logits(judged, torch.zeros(4, 1)).backward()
    #: linear
    again = judge(made)
    #: binary_cross_entropy_with_logits
    F.binary_cross_entropy_with_logits(again, torch.ones(4, 1)).backward()
    return [*maker.parameters(), *judge.parameters()]


def double_backward():
    x = leaf(3)
    #: ** sum backward-of-**
    y = x.pow(3).sum()
    (slope,) = torch.autograd.grad(y, x, create_graph=True)
    #: square sum
    slope.square().sum().backward()
    return [x]


def gradient_penalty():
    critic = nn.Sequential(nn.Linear(2, 6), nn.Tanh(), nn.Linear(6, 1))
    x = leaf(4, 2)
    #: linear tanh sum backward-of-linear T backward-of-tanh
    (slope,) = torch.autograd.grad(critic(x).sum(), x, create_graph=True)
    #: norm - square mean
    loss = (slope.norm(dim=1) - 1).square().mean()
    loss.backward()
    return [x, *critic.parameters()]


def checkpointed():
    one, two = nn.Linear(3, 4), nn.Linear(4, 1)
    #: linear tanh
    h = checkpoint(lambda x: one(x).tanh(), leaf(2, 3), use_reentrant=False)
    #: linear sum
    two(h).sum().backward()
    return [*one.parameters(), *two.parameters()]


def checkpointed_again_inside():
    one, x = nn.Linear(3, 3), leaf(2, 3)
    #: CheckpointFunction
    h = checkpoint(one, x, use_reentrant=True)
    #: square sum
    h.square().sum().backward()
    return [x, *one.parameters()]


def two_backwards_that_add_up():
    w = leaf(3)
    #: * sum
    (w * 2).sum().backward()
    #: * sum
    (w * w).sum().backward()
    return [w]


def one_graph_twice():
    w = leaf(3)
    #: exp sum
    loss = w.exp().sum()
    loss.backward(retain_graph=True)
    loss.backward()
    return [w]


def two_losses_at_once():
    w = leaf(3)
    #: *
    h = w * 2
    #: sum prod
    torch.autograd.backward([h.sum(), h.prod()])
    return [w]


def gradient_of_many_numbers():
    w = leaf(3)
    #: sin
    out = w.sin()
    out.backward(torch.tensor([1.0, 2.0, 3.0]))
    return [w]


def used_many_times():
    a = leaf(4)
    #: * sin + exp / - sum ** mean
    loss = (a * a + a.sin() - a / (a.exp() + 1)).sum() + (a**3).mean()
    loss.backward()
    return [a]


def broadcast():
    a, b, c = leaf(3, 1), leaf(4), leaf(1)
    #: + * - square sum
    loss = ((a + b) * c - b).square().sum()
    loss.backward()
    return [a, b, c]


def from_the_right():
    a = leaf(3)
    #: - * + / ** sum
    loss = ((1 - a) + 2 / (a * a + 1) + 2**a).sum()
    loss.backward()
    return [a]


def shapes():
    a = leaf(2, 3, 4)
    #: reshape T contiguous
    h = a.reshape(6, 4).T.contiguous()
    #: unsqueeze expand permute
    h = h.unsqueeze(0).expand(2, 4, 6).permute(2, 0, 1)
    #: flatten sin sum
    h.flatten().sin().sum().backward()
    return [a]


def joined_and_split():
    a, b = leaf(2, 3), leaf(2, 3)
    #: cat
    h = torch.cat([a, b, a])
    #: split
    one, two = h.split([2, 4])
    #: getitem stack ** sum
    loss = (torch.stack([one, two[:2]]) ** 2).sum()
    loss.backward()
    return [a, b]


def taken_apart():
    a = leaf(3, 2)
    #: unbind
    x, y, z = a.unbind()
    #: * sum +
    loss = (x * y).sum() + z.sum()
    loss.backward()
    return [a]


def gathered():
    a = leaf(3, 4)
    #: gather sum getitem square +
    loss = a.gather(1, torch.tensor([[0], [2], [1]])).sum() + a[torch.tensor([0, 0, 2])].square().sum()
    loss.backward()
    return [a]


def largest():
    a = leaf(3, 4)
    #: max
    values, _ = a.max(dim=1)
    #: sum topk + sort getitem
    loss = values.sum() + a.topk(2).values.sum() + a.sort(dim=0)[0][0].sum()
    loss.backward()
    return [a]


def chosen():
    a, b = leaf(4), leaf(4)
    #: gt * - where sum maximum + clamp
    loss = torch.where(a > 0, a * b, a - b).sum() + torch.maximum(a, b).sum() + a.clamp(-0.5, 0.5).sum()
    loss.backward()
    return [a, b]


def reductions():
    a = leaf(3, 4)
    #: logsumexp sum var + norm prod mean cumsum std
    loss = a.logsumexp(1).sum() + a.var() + a.norm() + a.prod(0).mean() + a.cumsum(0).std()
    loss.backward()
    return [a]


def products():
    a, b, c = leaf(2, 3), leaf(3, 2), leaf(3)
    #: einsum sum @ + outer dot
    loss = torch.einsum("ij,jk->ik", a, b).sum() + (a @ c).sum() + torch.outer(c, c).sum() + c.dot(c)
    loss.backward()
    return [a, b, c]


def batches_of_matrices():
    a, b = leaf(2, 3, 4), leaf(2, 4, 2)
    #: bmm square sum baddbmm +
    loss = torch.bmm(a, b).square().sum() + torch.baddbmm(torch.zeros(2, 3, 2), a, b).sum()
    loss.backward()
    return [a, b]


def linear_algebra():
    a = torch.eye(3).mul(3).requires_grad_()
    #: linalg_inv sum logdet + linalg_solve
    loss = torch.linalg.inv(a).sum() + torch.logdet(a) + torch.linalg.solve(a, torch.ones(3)).sum()
    loss.backward()
    return [a]


def losses():
    a, y = leaf(4, 3), torch.tensor([0, 1, 2, 1])
    t = torch.rand(4, 3)
    #: log_softmax nll_loss mse_loss + l1_loss smooth_l1_loss
    loss = F.nll_loss(a.log_softmax(1), y) + F.mse_loss(a, t) + F.l1_loss(a, t) + F.smooth_l1_loss(a, t)
    #: log_softmax kl_div + huber_loss
    loss = loss + F.kl_div(a.log_softmax(1), t, reduction="batchmean") + F.huber_loss(a, t)
    loss.backward()
    return [a]


def activations():
    a = leaf(5)
    #: gelu silu + elu softplus leaky_relu erf sum
    loss = (F.gelu(a) + F.silu(a) + F.elu(a) + F.softplus(a) + F.leaky_relu(a) + torch.erf(a)).sum()
    loss.backward()
    return [a]


def learned_slope():
    net, a = nn.PReLU(3), leaf(2, 3)
    #: prelu sum
    net(a).sum().backward()
    return [a, net.weight]


def dropout():
    net, a = nn.Dropout(0.5), leaf(10)
    #: dropout sum
    net(a).sum().backward()
    return [a]


def convolutions():
    one, up = nn.Conv1d(2, 3, 3, padding=1), nn.ConvTranspose2d(1, 2, 2)
    #: conv1d mean conv_transpose2d +
    loss = one(torch.randn(2, 2, 6)).mean() + up(torch.randn(1, 1, 3, 3)).mean()
    loss.backward()
    return [*one.parameters(), *up.parameters()]


def pooled_and_resized():
    a = leaf(1, 2, 6, 6)
    #: avg_pool2d sum interpolate mean + adaptive_avg_pool2d
    loss = F.avg_pool2d(a, 2).sum() + F.interpolate(a, scale_factor=2.0).mean() + F.adaptive_avg_pool2d(a, 1).sum()
    loss.backward()
    return [a]


def group_and_instance_norm():
    one, two = nn.GroupNorm(2, 4), nn.InstanceNorm1d(4, affine=True)
    #: group_norm square sum instance_norm ** +
    loss = one(torch.randn(2, 4, 3)).square().sum() + two(torch.randn(2, 4, 3)).pow(3).sum()
    loss.backward()
    return [*one.parameters(), *two.parameters()]


def weight_norm():
    net = nn.utils.parametrizations.weight_norm(nn.Linear(3, 2))
    #: weight_norm linear square mean
    net(torch.randn(4, 3)).square().mean().backward()
    return list(net.parameters())


def frozen_layer():
    one, two = nn.Linear(3, 3), nn.Linear(3, 1)
    one.requires_grad_(False)
    #: linear sum
    two(one(torch.randn(2, 3)).relu()).sum().backward()
    return list(two.parameters())


def target_network():
    net, target = nn.Linear(3, 2), nn.Linear(3, 2)
    state, after = torch.randn(4, 3), torch.randn(4, 3)
    with torch.no_grad():
        #: linear max
        best = target(after).max(1).values
    #: linear max * + mse_loss
    loss = F.mse_loss(net(state).max(1).values, 0.9 * best + 1)
    loss.backward()
    return list(net.parameters())


def bootstrapped_by_detach():
    net = nn.Linear(3, 1)
    #: linear
    value, following = net(torch.randn(4, 3)), net(torch.randn(4, 3))
    #: detach * +
    wanted = 1 + 0.9 * following.detach()
    #: - square mean
    loss = (value - wanted).square().mean()
    loss.backward()
    return list(net.parameters())


def policy_gradient():
    net = nn.Linear(3, 2)
    #: linear
    logits = net(torch.randn(5, 3))
    #: logsumexp - eq
    chances = torch.distributions.Categorical(logits=logits, validate_args=True)
    #: broadcast_tensors getitem gather squeeze * mean neg
    loss = -(chances.log_prob(torch.tensor([0, 1, 0, 1, 1])) * torch.randn(5)).mean()
    loss.backward()
    return list(net.parameters())


def variational_autoencoder():
    into, back = nn.Linear(4, 4), nn.Linear(2, 4)
    x = torch.rand(3, 4)
    #: linear chunk
    mean, log_variance = into(x).chunk(2, dim=1)
    #: / exp * +
    z = mean + torch.randn(3, 2) * (log_variance / 2).exp()
    #: linear mse_loss + ** - exp mean *
    loss = F.mse_loss(back(z), x) - 0.5 * (1 + log_variance - mean**2 - log_variance.exp()).mean()
    loss.backward()
    return [*into.parameters(), *back.parameters()]


def contrastive():
    net = nn.Linear(4, 3)
    #: linear normalize
    one, two = F.normalize(net(torch.randn(5, 4)), dim=1), F.normalize(net(torch.randn(5, 4)), dim=1)
    #: T @ / cross_entropy
    loss = F.cross_entropy(one @ two.T / 0.1, torch.arange(5))
    loss.backward()
    return list(net.parameters())


def siamese_triplet():
    net = nn.Linear(4, 2)
    #: linear
    a, b, c = (net(torch.randn(3, 4)) for _ in range(3))
    #: triplet_margin_loss
    loss = F.triplet_margin_loss(a, b, c)
    loss.backward()
    return list(net.parameters())


def mixture_of_experts():
    gate, experts = nn.Linear(3, 2), nn.ModuleList([nn.Linear(3, 1), nn.Linear(3, 1)])
    x = torch.randn(4, 3)
    #: linear softmax
    weights = gate(x).softmax(1)
    #: getitem linear * +
    out = sum(weights[:, i : i + 1] * expert(x) for i, expert in enumerate(experts))
    #: square mean
    out.square().mean().backward()
    return [*gate.parameters(), *experts.parameters()]


def graph_convolution():
    w, edges = leaf(3, 2), torch.tensor([[0, 1, 2], [1, 2, 0]])
    #: @
    h = torch.randn(3, 3) @ w
    #: getitem index_add
    out = torch.zeros(3, 2).index_add(0, edges[1], h[edges[0]])
    #: relu sum
    out.relu().sum().backward()
    return [w]


def unet():
    down, up, last = nn.Conv2d(1, 2, 3, 2, 1), nn.ConvTranspose2d(2, 2, 2, 2), nn.Conv2d(3, 1, 1)
    x = torch.randn(1, 1, 4, 4)
    #: conv2d relu conv_transpose2d
    h = up(down(x).relu())
    #: cat conv2d square mean
    loss = last(torch.cat([h, x], dim=1)).square().mean()
    loss.backward()
    return [*down.parameters(), *up.parameters(), *last.parameters()]


def neural_ode():
    w = leaf(2, 2)
    y = torch.ones(2)
    for _ in range(6):
        #: @ tanh * +
        y = y + 0.1 * torch.tanh(w @ y)
    #: square sum
    y.square().sum().backward()
    return [w]


def unrolled_inner_step():
    w, x = leaf(3), torch.randn(5, 3)
    #: @ square mean backward-of-square backward-of-@
    inner = (x @ w).square().mean()
    (slope,) = torch.autograd.grad(inner, w, create_graph=True)
    #: * -
    moved = w - 0.1 * slope
    #: @ - square mean
    outer = (x @ moved - 1).square().mean()
    outer.backward()
    return [w]


def hypernetwork():
    net = nn.Linear(2, 6)
    #: linear view
    weight = net(torch.ones(2)).view(2, 3)
    #: linear
    out = F.linear(torch.randn(4, 3), weight)
    #: square sum
    out.square().sum().backward()
    return list(net.parameters())


def double_precision():
    w = torch.randn(3, 3, dtype=torch.float64, requires_grad=True)
    #: float @ tanh sum trace +
    loss = (w.float() @ torch.ones(3)).tanh().sum() + w.double().trace()
    loss.backward()
    return [w]


def low_precision():
    net = nn.Linear(4, 3)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        #: linear
        out = net(torch.randn(2, 4))
    #: float square mean
    out.float().square().mean().backward()
    return list(net.parameters())


def complex_numbers():
    a = leaf(6)
    #: fft_rfft abs sum
    loss = torch.fft.rfft(a).abs().sum()
    loss.backward()
    return [a]


def complex_leaf():
    a = torch.randn(3, dtype=torch.cfloat, requires_grad=True)
    #: * + abs sum
    loss = (a * 1j + a).abs().sum()
    loss.backward()
    return [a]


def compressed_rows():
    rows, a = torch.eye(3).to_sparse_csr(), leaf(3)
    #: @ sum
    (rows @ a).sum().backward()
    return [a]


def shapes_without_numbers():
    with torch.device("meta"):
        shapes = nn.Linear(3, 2)
    shapes(torch.empty(4, 3, device="meta")).sum().backward()
    a = leaf(3)
    #: exp sum
    a.exp().sum().backward()
    return [a]


def transformed_beside_it():
    torch.func.grad(lambda x: (x**3).sum())(torch.ones(3))
    torch.func.vmap(torch.sin)(torch.ones(2, 3))
    a = leaf(3)
    #: exp sum
    a.exp().sum().backward()
    return [a]


def gradients_of_results_kept():
    a = leaf(3)
    #: *
    h = a * 2
    h.retain_grad()
    #: exp sum
    h.exp().sum().backward()
    assert h.grad is not None
    return [a]


def in_train_and_look():
    net = nn.Linear(3, 2)
    #: linear
    out = net(torch.randn(4, 3))
    #: square mean
    loss = out.square().mean()
    #: argmax
    right = (out.argmax(1) == 0).float().mean().item()
    #: item
    seen = loss.item() + right
    loss.backward()
    assert seen == seen
    return list(net.parameters())


PROGRAMS = [
    value
    for value in list(globals().values())
    if callable(value)
    and getattr(value, "__module__", "") == __name__
    and value.__name__ != "leaf"
    and not isinstance(value, type)
]
