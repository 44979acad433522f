import torch
import torch.nn.functional as F


class GradCAM:
    def __init__(self, model, layer):
        self.model = model
        self.gradients = None
        self.activations = None
        layer.register_forward_hook(self.save_activation)
        layer.register_full_backward_hook(self.save_gradient)

    def save_activation(self, module, inputs, output):
        self.activations = output

    def save_gradient(self, module, grad_in, grad_out):
        self.gradients = grad_out[0]

    def __call__(self, x, index=None):
        output = self.model(x)
        if index is None:
            index = output.argmax(dim=1).item()
        self.model.zero_grad()
        output[0, index].backward()
        weights = self.gradients.mean(dim=(2, 3), keepdim=True)
        cam = F.relu((weights * self.activations).sum(dim=1))
        return (cam / cam.max()).detach().cpu().numpy()
