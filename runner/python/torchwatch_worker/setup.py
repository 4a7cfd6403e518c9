"""The description of what to measure, checked."""
import dataclasses

import torch

from torchwatch_worker import compiling, metrics
from torchwatch_worker.failures import NoDevice, Unsupported
from torchwatch_worker.protocol import BENCHMARK

TESTS = ('train', 'eval')
DEVICES = ('cpu', 'cuda')
DTYPES = {'fp32': None, 'fp16': torch.float16, 'bf16': torch.bfloat16, 'amp': None}
CHOICES = {'scale': ('full', 'smoke'), 'precision': tuple(DTYPES), 'tf32': ('default', 'on', 'off')}
LEAST = {'runs': 1, 'warmup': 1, 'threads': 1, 'leak_iterations': 8, 'batch': 0}


@dataclasses.dataclass(frozen=True)
class Setup:
    """What a model is built for. Model files read it."""
    test: str
    model: str
    device: str
    backend: str
    measure: object  # protocol.Measure
    metrics: frozenset = frozenset()
    is_filling: bool = False  # the job fills its compile caches

    @property
    def trains(self):
        """True for the test `train`."""
        return self.test == 'train'

    @property
    def dtype(self):
        """The type of weights and inputs; None: as they were drawn."""
        return DTYPES[self.measure.precision]

    def pick(self, full, smoke):
        """Returns the first at full scale, the second at smoke scale."""
        return full if self.measure.scale == 'full' else smoke

    def batch(self, full, smoke):
        """Returns the job's batch, or the model's own for the scale."""
        return self.measure.batch or self.pick(full, smoke)

    def synchronize(self):
        """Waits until the device has finished."""
        if self.device == 'cuda':
            torch.cuda.synchronize()


def choose(what, found, allowed):
    """Returns `found`. Throws Unsupported when it is not allowed."""
    if found not in allowed:
        raise Unsupported(f'{what} "{found}" is not supported; one of {", ".join(allowed)}')
    return found


def _check(measure):
    for name, least in LEAST.items():
        if getattr(measure, name) < least:
            raise Unsupported(f'{name} "{getattr(measure, name)}" is not supported; at least {least}')
    for name, allowed in CHOICES.items():
        choose(name, getattr(measure, name), allowed)


def _require_device(device):
    if device == 'cpu' or torch.cuda.is_available():
        return
    if torch.version.cuda:
        raise NoDevice('PyTorch finds none')
    raise Unsupported('device "cuda" is not supported; this PyTorch was built without CUDA')


def setup_of(job):
    """Returns what the job is to measure. Throws Unsupported and NoDevice."""
    name = BENCHMARK.fullmatch(job.benchmark)
    if not name:
        raise Unsupported('expected test_<test>[<model>-<device>-<backend>]')
    test, model, device, backend = name.groups()
    _check(job.measure)
    choose('test', test, TESTS)
    choose('device', device, DEVICES)
    choose('backend', backend, compiling.BACKENDS)
    _require_device(device)
    compiling.require(backend, device)
    return Setup(test, model, device, backend, job.measure, frozenset(metrics.wanted(job, device)), job.is_filling)
