"""Evaluation: sets, measures, intervals, and the gate before a release."""
