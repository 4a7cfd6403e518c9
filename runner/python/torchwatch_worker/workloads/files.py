"""Model files of the operator: NAME.py in measure.models, with a function `make`.

`make(setup)` returns a network and its inputs, a tuple or a dictionary, or a function that runs one iteration by
itself. A function `loss(output)` is needed to train a network. `setup` is a setup.Setup.
"""
import importlib.util
import os
import sys

import torch

from torchwatch_worker.failures import Unsupported
from torchwatch_worker.workloads.supervised import Function, Supervised


def path_of(folder, model):
    """Returns the path that the model's file would have."""
    return os.path.join(folder, model + '.py')


def names(folder):
    """Returns the models with a file in the folder."""
    return sorted(name.removesuffix('.py') for name in os.listdir(folder)
                  if name.endswith('.py') and not name.startswith('_') and '-' not in name)


class Source:
    """A model file."""

    def __init__(self, setup):
        self._setup = setup
        self._path = path_of(setup.measure.models, setup.model)
        self._module = None

    def load(self):
        """Imports the file. It may import its neighbours."""
        sys.path.insert(0, os.path.dirname(self._path))
        spec = importlib.util.spec_from_file_location('torchwatch_model_' + self._setup.model, self._path)
        self._module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = self._module
        try:
            spec.loader.exec_module(self._module)
        except Exception as problem:
            raise Unsupported(f'{self._path} cannot be imported: {type(problem).__name__}: {problem}') from problem
        if not callable(getattr(self._module, 'make', None)):
            raise Unsupported(f'{self._path} is not a model file; it needs a function make(setup)')

    def build(self):
        """Returns the workload."""
        made = self._module.make(self._setup)
        if callable(made) and not isinstance(made, torch.nn.Module):
            return Function(self._setup, made)
        if not isinstance(made, tuple) or len(made) != 2 or not isinstance(made[0], torch.nn.Module):
            raise Unsupported(f'{self._path}: make(setup) must return a network and its inputs, or a function; '
                              f'found {type(made).__name__}')
        loss = getattr(self._module, 'loss', None)
        if self._setup.trains and loss is None:
            raise Unsupported(f'test "train" is not supported; {self._path} has no function loss(output)')
        return Supervised(self._setup, *made, loss)
