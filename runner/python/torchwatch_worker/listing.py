"""What the worker can measure, as JSON."""
import os

from torchwatch_worker import metrics, protocol


def _models_in(folder):
    from torchwatch_worker.workloads import files, torchbench
    if not os.path.isdir(folder):
        raise SystemExit(f'torchwatch-python-worker: {folder} is not a directory')
    if torchbench.is_checkout(folder):
        return torchbench.names(folder)
    return files.names(folder)


def describe(folder=''):
    """Returns models, tests, devices, backends, and the declarations of the metrics. `folder`: a TorchBench checkout or
    a directory of model files."""
    from torchwatch_worker import compiling, host, setup
    from torchwatch_worker.workloads import examples, vision
    models = [*examples.MODELS, *('torchvision.' + name for name in vision.names())]
    return {'protocol': protocol.VERSION, 'models': models + (_models_in(folder) if folder else []),
            'tests': list(setup.TESTS), 'devices': host.devices(), 'backends': list(compiling.BACKENDS),
            'metrics': metrics.DECLARATIONS}
