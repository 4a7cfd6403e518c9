"""A model file with a function. Its product has 16 KiB."""
import torch


def make(setup):
    rows = torch.randn(64, 64)
    return lambda: rows @ rows
