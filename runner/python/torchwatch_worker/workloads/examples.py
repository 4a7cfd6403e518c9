"""Two small models to try the worker with, which need nothing but PyTorch."""
import torch
from torch import nn

from torchwatch_worker.workloads.supervised import Supervised, classify

CLASSES = 10


def _mlp(setup):
    width = setup.pick(1024, 64)
    network = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(),
                            nn.Linear(width, CLASSES))
    return network, (width,)


def _convnet(setup):
    network = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3), nn.ReLU(),
                            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, CLASSES))
    return network, (3, setup.pick(32, 16), setup.pick(32, 16))


MODELS = {'example_mlp': _mlp, 'example_convnet': _convnet}


class Source:
    """A model of this file."""

    def __init__(self, setup):
        self._setup = setup

    def load(self):
        """Needs no import."""

    def build(self):
        """Returns the workload."""
        batch = self._setup.batch(32, 4)
        network, shape = MODELS[self._setup.model](self._setup)
        return Supervised(self._setup, network, (torch.randn(batch, *shape),), classify(self._setup, CLASSES, batch))
