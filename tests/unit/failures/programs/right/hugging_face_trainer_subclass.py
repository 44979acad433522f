import torch
from torch import nn
from transformers import Trainer


class WeightedTrainer(Trainer):
    def compute_loss(self, model, inputs, return_outputs=False, **kwargs):
        labels = inputs.pop("labels")
        outputs = model(**inputs)
        logits = outputs.get("logits")
        loss = nn.functional.cross_entropy(
            input=logits.view(-1, 3), target=labels.view(-1), weight=torch.tensor([1.0, 2.0, 3.0])
        )
        return (loss, outputs) if return_outputs else loss

    def training_step(self, model, inputs, *args):
        model.train()
        loss = self.compute_loss(model, self._prepare_inputs(inputs))
        self.accelerator.backward(loss)
        return loss.detach()
