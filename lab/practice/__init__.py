"""A learner's own code: run apart, checked against numbers, diagnosed."""
