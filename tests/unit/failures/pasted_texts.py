"""Texts as people paste and type them, in six languages, each with the keys that are right first answers.

A ? after the keys: several causes, so none may be sure; no key: none of the failures. Written before the finder was
tried on them. On the first look 97 of 109 texts of the first set were answered rightly (39 of them, tracebacks of
PyTorch and of this engine, are raised in other tests).
"""

FIRST = [
    (
        'Traceback (most recent call last):\n  File "fit.py", line 31, in <module>\n    g = jax.grad(loss_fn)(params)\njax.errors.TracerArrayConversionError: The numpy.ndarray conversion method __array__() was called on traced array with shape float32[8]\nThe error occurred while tracing the function loss_fn at fit.py:12 for jit.',
        "numpy",
    ),
    (
        "TypeError: grad requires real- or complex-valued inputs (input dtype that is a sub-dtype of np.inexact), but got int32. If you want to use Boolean- or integer-valued inputs, use vjp or set allow_int to True.",
        "integers",
    ),
    ("TypeError: Gradient only defined for scalar-output functions. Output had shape: (32,).", "scalar"),
    (
        "WARNING:tensorflow:Gradients do not exist for variables ['dense_3/kernel:0', 'dense_3/bias:0'] when minimizing the loss. If you're using `model.compile()`, did you forget to provide a `loss` argument?",
        "optimizer no-grad nograph detach nonleafgrad?",
    ),
    (
        "ValueError: No gradients provided for any variable: (['conv2d/kernel:0', 'conv2d/bias:0'],). Provided `grads_and_vars` is ((None, <tf.Variable 'conv2d/kernel:0'>), (None, <tf.Variable 'conv2d/bias:0'>)).",
        "nograph no-grad argmax detach optimizer?",
    ),
    ("AttributeError: 'Tensor' object has no attribute 'numpy'  (inside my keras custom loss)", "numpy"),
    (
        "FloatingPointError: invalid value (nan) encountered in jit(div). Because jax_config.debug_nans.value and/or config.jax_debug_infs is set, the de-optimized function (i.e., the function as if the `jit` decorator were removed) was called",
        "nan where",
    ),
    (
        "Epoch 1/10\n 12/1875 [....] - ETA: 1:02 - loss: nan - accuracy: 0.0987\nCallback TerminateOnNaN: Batch 3: Invalid loss, terminating training",
        "nan rate",
    ),
    (
        "RuntimeError: A non-persistent GradientTape can only be used to compute one set of gradients (or jacobians)",
        "twice",
    ),
    (
        "tensorflow.python.framework.errors_impl.ResourceExhaustedError: OOM when allocating tensor with shape[256,512,28,28] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc",
        "kept no-grad detach?",
    ),
    (
        "hi all, i have skip connections like  out += identity  and since i upgraded torch my backward dies telling something was modified. it worked in 1.4!!",
        "inplace",
    ),
    (
        "my optimizer.step() is between the two backward calls and now it complain about version of weights",
        "inplace order twice?",
    ),
    (
        "Ich rufe loss.backward() zweimal auf und beim zweiten Mal kommt ein Fehler, dass der Graph schon weg ist",
        "twice?",
    ),
    (
        "i have actor loss and critic loss they share encoder, second backward gives error, somebody says retain_graph but then super slow",
        "twice?",
    ),
    ("loss has shape torch.Size([16]) and backward not working, must i do mean?", "scalar"),
    ("为什么我的loss是一个向量，backward就报错", "scalar"),
    (
        "my costum loss use sklearn metric inside and then .backward() says tensor have no grad_fn",
        "nograph numpy argmax?",
    ),
    (
        "el gradiente de mis pesos es None después de backward, que hago mal?",
        "nonleafgrad no-grad detach optimizer nograph order?",
    ),
    ("i do x = torch.randn(3, requires_grad=True).cuda() and x.grad is always None", "nonleafgrad?"),
    (
        "How can I look at the gradients flowing into the hidden layer? hidden.grad is None but the weights have grads",
        "nonleafgrad?",
    ),
    ("gradients get larger and larger each iteration even with same batch, do they sum up??", "zero-grad"),
    (
        "is it normal to see gradient norm growing linear with the iteration number, the data is the same each time",
        "zero-grad",
    ),
    ("muss ich die Gradienten in jedem Schritt auf null setzen?", "zero-grad"),
    (
        "i want to clamp my weights between -1 and 1 after each update for wgan but torch tell me leaf variable can't be changed",
        "leaf",
    ),
    ("custom init: conv.weight[0,0] = my_kernel  -> RuntimeError leaf", "leaf"),
    (
        "linear regresion gives the same ouput for every x, about the average of y. loss goes to variance of y and stop. y.shape is (200,), model out (200,1)",
        "broadcast",
    ),
    ("My MSE is much larger then when I compute by hand with numpy, preds are [n,1] and labels [n]", "broadcast"),
    ("训练到第三个epoch loss变成nan", "nan rate where?"),
    ("binary cross entropy by hand -(y*log(p)+(1-y)*log(1-p)) turns nan after a while when net gets confident", "nan"),
    ("distance matrix loss, diagonal is zero and gradient of sqrt there nan", "nan where"),
    ("nvidia-smi shows memory going up every batch", "kept detach twice?"),
    ("GPU-Speicher wächst mit jeder Iteration bis zum Absturz", "kept detach twice?"),
    ("my RAM usage slowly rises over epochs, I store train_loss += loss in the loop for logging", "kept"),
    (
        "char rnn: first batch trains ok then backward error on 2nd batch, i pass the hidden state from before",
        "detach twice?",
    ),
    (
        "the backbone weights dont change at all, only the head does. I have torch.no_grad in forward of backbone i think",
        "no-grad",
    ),
    ("plt.plot(losses) raises something about tensor that requires grad", "numpy"),
    ("after some epochs 80% of relu outputs are exactly 0 for any input", "dead"),
    ("deep net with 20 sigmoid layers, the first layers gradient is like 1e-12", "vanishing"),
    ("all hidden neurons compute the same thing, I initialised weights with np.zeros", "zero-init"),
    ("loss explodes to 1e30 after 5 iterations with SGD lr=1", "rate"),
    ("with lr 0.5 the loss is jumping like crazy between 0.2 and 15 and never settle", "rate"),
    ("I wrote w += lr * grad and the loss only goes up", "order"),
    ("does it matter if scheduler.step() come before optimizer.step()? got a warning", "order"),
    ("I added a new layer after creating Adam and this layer stays at its random init", "optimizer"),
    ("layers in a python list [nn.Linear(..), ..] dont show up in model.parameters()", "optimizer"),
    ("torch.where(x>0, torch.log(x), 0) forward fine but grad nan for negative x", "where"),
    ("can I use accuracy directly as loss function? my gradient is zero/none", "argmax nograph?"),
    ("my gradcheck fails with tiny differences 1e-3, backward formula is correct i checked on paper", "float32"),
    (
        "accumulating gradients over 4 mini batches gives different result than batch 4x larger, do i have to divide loss?",
        "accumulation",
    ),
    ("my net ends with nn.Softmax and I use CrossEntropyLoss, loss is stuck near 1.46 but accuracy 99", "softmax"),
    (
        "ERROR: Could not find a version that satisfies the requirement torch==1.7.0+cu110 (from versions: 2.0.0, 2.0.1)",
        "",
    ),
    ("ImportError: libcudart.so.11.0: cannot open shared object file: No such file or directory", ""),
    (
        'OSError: [WinError 126] The specified module could not be found. Error loading "C:\\Users\\me\\torch\\lib\\fbgemm.dll" or one of its dependencies.',
        "",
    ),
    (
        "RuntimeError: Expected all tensors to be on the same device, but found at least two devices, cuda:0 and cpu!",
        "",
    ),
    ("ValueError: too many values to unpack (expected 2) when iterating my DataLoader", ""),
    ("RuntimeError: DataLoader worker (pid 3412) is killed by signal: Killed.", ""),
    (
        "RuntimeError: stack expects each tensor to be equal size, but got [3, 224, 224] at entry 0 and [1, 224, 224] at entry 5",
        "",
    ),
    (
        'RuntimeError: Error(s) in loading state_dict for ResNet: Missing key(s) in state_dict: "layer1.0.conv1.weight"',
        "",
    ),
    ("what is the difference between nn.Module and nn.functional", ""),
    ("which gpu should i buy for deep learning as student", ""),
    ("how do i resize images of different sizes in torchvision", ""),
    ("should I learn pytorch or tensorflow first?", ""),
    (
        "RuntimeError: cuDNN version incompatibility: PyTorch was compiled against (8, 7, 0) but found runtime version (8, 5, 0)",
        "",
    ),
    ("RuntimeError: shape '[-1, 400]' is invalid for input of size 44944", ""),
    ("RuntimeError: expected m1 and m2 to have the same dtype, but got: float != double", ""),
    ("ValueError: Target size (torch.Size([32])) must be the same as input size (torch.Size([32, 1]))", ""),
    ("Wie installiere ich PyTorch mit CUDA 12 auf Windows?", ""),
    ("怎么用DataLoader读取csv文件", ""),
    ("what does model.eval() do exactly", ""),
    ("RuntimeError: CUDA error: device-side assert triggered", ""),
]
