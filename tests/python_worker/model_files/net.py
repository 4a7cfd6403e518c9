"""A model file with a network, inputs and a loss."""
import torch


def make(setup):
    batch = setup.batch(16, 4)
    return torch.nn.Linear(8, 8), (torch.randn(batch, 8),)


def loss(output):
    return output.square().mean()
