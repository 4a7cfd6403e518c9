"""What is iterated: models by name. A source finds and imports a model; a workload is the model, built.

A source has `load()`, which imports what the model needs and throws Unsupported with the reason when that fails, and
`build()`, which returns a workload. A workload has `step()`, which runs one iteration, and `compile(compiler)`, which
has later steps run compiled code.
"""
import contextlib
import os
import random
import sys

import torch

from torchwatch_worker.failures import Unsupported
from torchwatch_worker.workloads import examples, files, hub, torchbench, vision
from torchwatch_worker.workloads.drawing import DrawnOnDevice

PREFIXES = {'torchvision.': vision.Source, 'transformers.': hub.Source}


def find(setup):
    """Returns the source of the model. Names with the prefix torchvision. or transformers. come first, then model files
    and TorchBench's models in measure.models, then the examples. Throws Unsupported."""
    for prefix, source in PREFIXES.items():
        if setup.model.startswith(prefix):
            return source(setup, setup.model.removeprefix(prefix))
    folder = setup.measure.models
    if folder and os.path.isfile(files.path_of(folder, setup.model)):
        return files.Source(setup)
    if folder and torchbench.is_checkout(folder):
        return torchbench.Source(setup)
    if setup.model in examples.MODELS:
        return examples.Source(setup)
    raise Unsupported(f'model "{setup.model}" is not supported; {_where_models_are(folder)}')


def _where_models_are(folder):
    searched = 'there is no directory of models (measure.models)'
    if folder:
        searched = f'{folder} is not a TorchBench checkout and has no file of that name'
    return f'{searched}; by name there are {", ".join([*examples.MODELS, *(name + "NAME" for name in PREFIXES)])}'


def _seed(seed):
    torch.manual_seed(seed)
    random.seed(seed)
    if 'numpy' in sys.modules:
        sys.modules['numpy'].random.seed(seed % (1 << 32))


def build(source, setup):
    """Returns the source's workload. Large weights are drawn on the device, which is faster there."""
    _seed(setup.measure.seed)
    with DrawnOnDevice(setup.device) if setup.device != 'cpu' else contextlib.nullcontext():
        workload = source.build()
    if setup.device == 'cuda':
        torch.cuda.empty_cache()
    return workload


def fingerprint(setup):
    """Returns what identifies the models beyond the build: the commit of a TorchBench checkout."""
    folder = setup.measure.models
    commit = torchbench.commit_of(folder) if folder and torchbench.is_checkout(folder) else ''
    return {'torchbench': commit} if commit else {}
