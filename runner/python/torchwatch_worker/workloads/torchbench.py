"""Models of a checkout of pytorch/benchmark (TorchBench), which is not changed.

A model's `invoke` is one iteration. What TorchBench compiles is compiled here as well (apply_torchdynamo_args in
torchbenchmark/util/backends/torchdynamo.py), without its own code for compilers, which nightlies break more often.
"""
import importlib
import os
import re
import sys
import traceback
import urllib.error

from torchwatch_worker import compiling
from torchwatch_worker.failures import Unsupported

PACKAGE = 'torchbenchmark'
FOLDERS = ('models', 'canary_models')
STAGES = ('forward', 'backward', 'optimizer_step')


def is_checkout(folder):
    """True when the folder is a checkout of TorchBench."""
    return os.path.isfile(os.path.join(folder, PACKAGE, '__init__.py'))


def _has_model(folder, group, name):
    return os.path.isfile(os.path.join(folder, PACKAGE, group, name, '__init__.py'))


def names(folder):
    """Returns the models of the checkout."""
    models = os.path.join(folder, PACKAGE, FOLDERS[0])
    return sorted(name for name in os.listdir(models) if _has_model(folder, FOLDERS[0], name))


def _read(path):
    try:
        with open(path, encoding='utf-8') as file:
            return file.read().strip()
    except OSError:
        return ''


def commit_of(folder):
    """Returns the commit of the checkout, without git; empty when its .git is missing or packed."""
    head = _read(os.path.join(folder, '.git', 'HEAD'))
    if head.startswith('ref: '):
        head = _read(os.path.join(folder, '.git', head.removeprefix('ref: ')))
    return head if re.fullmatch('[0-9a-f]{40}', head) else ''


def _is_raised_in(problem, folder):
    """True when a line of the folder raised the error itself."""
    frames = traceback.extract_tb(problem.__traceback__)
    return bool(frames) and os.path.realpath(frames[-1].filename).startswith(os.path.realpath(folder) + os.sep)


class Workload:
    """A model of TorchBench."""

    def __init__(self, setup, model):
        self._setup = setup
        self._model = model
        self._compiled_name = self._stage_to_compile()
        self._source = getattr(model, self._compiled_name)

    def _stage_to_compile(self):
        if not self._setup.trains:
            return 'eval'
        return 'forward' if all(hasattr(self._model, stage) for stage in STAGES) else 'train'

    def compile(self, compiler):
        """Has later steps run what `compiler` makes of the model's eval, forward or train."""
        setattr(self._model, self._compiled_name, compiler(self._source))

    def step(self):
        """Runs one iteration."""
        compiling.mark_step(self._setup.backend)
        self._model.invoke()


class Source:
    """A model by its folder's name."""

    def __init__(self, setup):
        self._setup = setup
        self._folder = setup.measure.models
        self._class = None

    def load(self):
        """Imports the model. Any error of that means that the model is unsupported: a package that is missing or too
        old, or a part of PyTorch that the checkout expects."""
        if self._folder not in sys.path:
            sys.path.insert(0, self._folder)
        compiling.import_dynamo()  # its models make optimizers, also for inference
        try:
            self._class = self._import()
        except Unsupported:
            raise
        except Exception as problem:
            raise Unsupported(f'TorchBench\'s {self._setup.model} cannot be imported: {type(problem).__name__}: '
                              f'{problem}') from problem

    def _import(self):
        name = self._setup.model
        for group in FOLDERS:
            if _has_model(self._folder, group, name):
                return self._class_in(importlib.import_module(f'{PACKAGE}.{group}.{name}'))
        raise Unsupported(f'model "{name}" is not supported; the TorchBench checkout {self._folder} has no such model')

    def _class_in(self, module):
        found = getattr(module, 'Model', None)
        if found is None:
            raise Unsupported(f'model "{self._setup.model}" is not supported; it has no class Model')
        if not hasattr(found, 'name'):
            found.name = self._setup.model  # as TorchBench's load_model_by_name does
        return found

    def build(self):
        """Returns the workload. TorchBench throws NotImplementedError for tests, devices and batch sizes that a model
        does not have."""
        measure = self._setup.measure
        try:
            model = self._class(test=self._setup.test, device=self._setup.device, batch_size=measure.batch or None,
                                extra_args=['--precision', measure.precision])
        except urllib.error.URLError as problem:  # without a network
            raise Unsupported(f'TorchBench\'s {self._setup.model} needs weights that are not on this host: {problem}; '
                              'TORCH_HOME names the directory where PyTorch looks for them') from problem
        except NotImplementedError as problem:
            if not _is_raised_in(problem, self._folder):
                raise
            raise Unsupported(f'TorchBench\'s {self._setup.model}: {problem}') from problem
        return Workload(self._setup, model)
