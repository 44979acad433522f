"""A training run: its settings, data and trainer, its record on disk, and the doctor who reads it."""

from lab.training.doctor import diagnose

__all__ = ["diagnose"]
