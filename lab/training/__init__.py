"""Training runs: settings, data, trainer, records on disk, and the doctor that diagnoses a run from its records."""

from lab.training.doctor import diagnose
from lab.training.predictions import TrainedModel, load

__all__ = ["TrainedModel", "diagnose", "load"]
