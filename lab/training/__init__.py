"""A training run: its settings, data and trainer, its record on disk, and the doctor who reads it."""

from lab.training.doctor import diagnose
from lab.training.trained import TrainedModel, load

__all__ = ["TrainedModel", "diagnose", "load"]
