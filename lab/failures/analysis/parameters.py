"""The parameters of library functions, and `positional`, which moves keyword arguments to their places.

The interpreter and the rules read the operands of a call by place. A call that names them, such as
`mse_loss(input=x, target=y)`, is rewritten to the call without the names.
"""

import ast

from lab.failures.analysis.effects import EFFECTS, Result, functions
from lab.failures.analysis.syntax import called

# The first parameters of each function, in PyTorch's order. NumPy's name for one stands after a bar.
ROWS = {
    "input|a|x other": (
        "add sub subtract mul multiply div divide true_divide matmul eq ne gt lt ge le maximum minimum"
    ),
    "input|a other": "kron atan2 hypot logaddexp",
    "input|a exponent": "pow",
    "input|a end weight": "lerp",
    "condition input|x other|y": "where",
    "input|a dim index": "gather index_select",
    "input|a mask value": "masked_fill masked_select",
    "input|a vec2": "outer",
    "input|a mat2": "mm bmm",
    "input|a vec": "mv",
    "input|a tensor": "dot",
    "input mat1 mat2": "addmm",
    "input batch1 batch2": "baddbmm",
    "input tensor1 tensor2": "addcmul",
    "input1 input2 weight bias": "bilinear",
    "input weight bias": "linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d",
    "input weight": "embedding",
    "query key value": "scaled_dot_product_attention",
    "x1 x2": "cdist pairwise_distance cosine_similarity",
    "tensors|arrays|tup": "stack cat concatenate concat hstack vstack",
    "equation": "einsum",
    "input|a shape|size": "view reshape expand",
    "input|a dims|axes": "permute flip tile",
    "input|a dim0 dim1": "transpose swapdims",
    "input|a axis0|axis1 axis1|axis2": "swapaxes",
    "input|a dim": "unsqueeze squeeze",
    "input|a start_dim": "flatten",
    "input|a x|other": "view_as expand_as type_as",
    "input target": " ".join(functions(Result.LOSS)),
    "input target var": "gaussian_nll_loss",
    "input1 input2 target": "margin_ranking_loss",
    "data|object requires_grad": "Parameter Variable",
    "data|object": "tensor as_tensor array Tensor",
    "size|shape": "zeros ones rand randn empty",
    "size|shape fill_value": "full",
    "input fill_value": "full_like",
    "start|low end|stop|high": "linspace uniform",
    "low high size": "randint integers",
    "mean|loc std|scale size": "normal",
    "tensor val": "constant_",
    "tensor mean std": "normal_ trunc_normal_",
    "tensor a b": "uniform_",
    "tensor gain": "orthogonal_ xavier_uniform_ xavier_normal_",
    "tensor": "zeros_ ones_ kaiming_uniform_ kaiming_normal_ eye_ dirac_ sparse_",
    "outputs inputs grad_outputs": "grad",
    "tensors|gradient|loss": "backward",
    "func inputs": "gradcheck gradgradcheck",
    "mode": "set_grad_enabled train",
    "requires_grad": "requires_grad_",
    "dataset batch_size": "DataLoader",
    "dataset indices": "Subset",
    "dataset lengths": "random_split",
    "optimizer": "StepLR MultiStepLR ExponentialLR CosineAnnealingLR LambdaLR ReduceLROnPlateau OneCycleLR",
    "optimizer|closure|metrics|epoch": "step",
    "outputs": "scale",
    "name tensor|module|param": "register_buffer add_module register_module register_parameter",
    "fn": "apply",
    "hook": "register_forward_hook",
    "x|memo": "deepcopy",
}
PARAMETERS = dict.fromkeys(EFFECTS, ("input|a|x|A",)) | {
    name: tuple(parameters.split()) for parameters, names in ROWS.items() for name in names.split()
}
LOSS = ("input", "target")  # of a loss that the program calls by a name of its own


class Positional(ast.NodeTransformer):
    """Moves the keyword arguments of calls to their places; the program's own functions keep theirs."""

    def __init__(self, tree: ast.Module) -> None:
        definitions = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        self.own = {node.name for node in ast.walk(tree) if isinstance(node, definitions)}
        self.own_losses = any(isinstance(node, ast.arg) and node.arg == "target" for node in ast.walk(tree))

    def visit_Call(self, node: ast.Call) -> ast.Call:
        self.generic_visit(node)
        given = {key.arg: key for key in node.keywords}
        name = called(node)
        if not node.keywords or name in self.own or any(isinstance(part, ast.Starred) for part in node.args):
            return node
        parameters = PARAMETERS.get(name, LOSS if "target" in given and not self.own_losses else ())
        rest = list(parameters[len(node.args) :])
        method = isinstance(node.func, ast.Attribute)
        if rest and method and not given.keys() & {*rest[0].split("|")}:
            rest.pop(0)  # the receiver takes the first place
        for parameter in rest:
            word = next((word for word in parameter.split("|") if word in given), None)
            if word is None:
                break
            node.args.append(given[word].value)
            node.keywords.remove(given[word])
        return node


def positional(tree: ast.Module) -> ast.Module:
    """Move the keyword arguments of library calls to their places, in the tree itself, and return it."""
    return Positional(tree).visit(tree)
