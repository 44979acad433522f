"""Runs a learner's own code in a process apart, checks its numbers and diagnoses its mistakes."""
