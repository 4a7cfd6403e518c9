#!/usr/bin/env python3
"""Compares the latency that torchwatch-python-worker reports with a plain loop over the same model.

usage: python_worker_latency.py [--models A,B] [--tests eval,train] [--backends eager,inductor] [--scale full|smoke]
                                [--files DIRECTORY] [--batch N] [--processes N] [--runs N] [--min-run-ms X]
                                [--limit X]

For each row, a process of the worker and a process of the plain loop take turns run by run, in random order. The plain
loop uses PyTorch alone: it builds the model, compiles it with torch.compile, and times steps. It keeps freed memory as
the worker does, imports the compiler before it builds the model, and has no garbage collector while it times, like
timeit. Every process has one thread. The ratio is the median over the pairs of processes of the ratio of their medians;
its quartiles show how much processes differ.

  --files DIR     directory of model files, or a checkout of TorchBench (tests/python_worker/model_files)
  --batch N       samples of an iteration (4); 0: the model's own of TorchBench
  --processes N   pairs of processes of each row (10)
  --runs N        runs of each process (8)
  --min-run-ms X  least time of a run (100)
  --limit X       exit status 1 when a ratio is not within X of 1, such as 0.01 (no limit)
"""
import argparse
import ctypes
import gc
import importlib
import importlib.util
import math
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time
import types

HERE = pathlib.Path(__file__).resolve().parent
TESTS = HERE.parent / 'python_worker'
MODELS = 'transformer,fusable,torchvision.squeezenet1_1,torchvision.mobilenet_v2,torchvision.resnet18'
SEED, LEAST_STEPS = 1337, 10
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD = -1, -3, 32 << 20


def options_of(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (('models', MODELS), ('tests', 'eval'), ('backends', 'eager,inductor')):
        parser.add_argument('--' + name, default=default, type=lambda text: text.split(','))
    parser.add_argument('--files', default=TESTS / 'model_files', type=pathlib.Path)
    parser.add_argument('--scale', default='smoke', choices=('full', 'smoke'))
    parser.add_argument('--batch', default=4, type=int)
    parser.add_argument('--processes', default=10, type=int)
    parser.add_argument('--runs', default=8, type=int)
    parser.add_argument('--min-run-ms', default=100, type=float)
    parser.add_argument('--limit', default=math.inf, type=float)
    parser.add_argument('--plain', nargs=3, help=argparse.SUPPRESS)  # test, model, backend
    options = parser.parse_args(arguments)
    for name in ('models', 'tests', 'backends'):
        if isinstance(getattr(options, name), str):
            setattr(options, name, getattr(options, name).split(','))
    return options


# The plain loop

def keep_freed_memory():
    mallopt = ctypes.CDLL(None).mallopt
    mallopt(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)
    mallopt(M_TRIM_THRESHOLD, -1)


def classifier(name, setup):
    """Returns network, inputs and loss of a classifier of torchvision."""
    import torch
    from torchvision import models
    side = setup.pick(224, 64)
    batch = setup.batch(32, 2)
    labels = torch.randint(0, 1000, (batch,))
    return (getattr(models, name)(weights=None), (torch.randn(batch, 3, side, side),),
            lambda output: torch.nn.functional.cross_entropy(output, labels))


def model_file(path, setup):
    """Returns network, inputs and loss of a model file."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return *module.make(setup), getattr(module, 'loss', None)


def is_checkout(folder):
    return (folder / 'torchbenchmark').is_dir()


def step_of_torchbench(test, name, compiler, options):
    """Returns `invoke` of TorchBench's model, of which TorchBench compiles eval, or forward, or train."""
    sys.path.insert(0, str(options.files))
    made = importlib.import_module('torchbenchmark.models.' + name).Model
    made.name = name
    model = made(test=test, device='cpu', batch_size=options.batch or None)
    stage = 'eval' if test == 'eval' else 'forward' if hasattr(model, 'optimizer_step') else 'train'
    setattr(model, stage, compiler(getattr(model, stage)))
    return model.invoke


def step_of(test, model, backend, options):
    """Returns a function that runs one iteration."""
    import torch
    torch.set_num_threads(1)
    torch.manual_seed(SEED)
    compiler = (lambda function: function) if backend == 'eager' else torch.compile
    if backend != 'eager':
        importlib.import_module('torch._inductor.compile_fx')
    if is_checkout(options.files):
        return step_of_torchbench(test, model, compiler, options)
    is_full = options.scale == 'full'
    setup = types.SimpleNamespace(trains=test == 'train', pick=lambda full, smoke: full if is_full else smoke,
                                  batch=lambda full, smoke: options.batch)
    kind = model.removeprefix('torchvision.')
    network, inputs, loss = (classifier(kind, setup) if kind != model
                             else model_file(options.files / (model + '.py'), setup))
    network.train(setup.trains)
    if not setup.trains:
        return torch.no_grad()(lambda called=compiler(network): called(*inputs))
    forward = compiler(lambda: loss(network(*inputs)))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-4)

    def train():
        optimizer.zero_grad(set_to_none=True)
        forward().backward()
        optimizer.step()
    return train


def milliseconds(step, count):
    begun = time.perf_counter()
    for _ in range(count):
        step()
    return (time.perf_counter() - begun) * 1e3


def run_plain(options):
    """Times a run for each line of standard input, and prints its milliseconds per step."""
    answers = os.fdopen(os.dup(1), 'w')
    os.dup2(2, 1)  # models print
    keep_freed_memory()
    step = step_of(*options.plain, options)
    step()
    fastest = min(milliseconds(step, 1) for _ in range(LEAST_STEPS))
    count = max(math.ceil(options.min_run_ms / fastest), 1)
    gc.collect()
    gc.freeze()
    gc.disable()
    print('ready', file=answers, flush=True)
    for _ in sys.stdin:
        step()  # the other process left its own data in the caches
        print(milliseconds(step, count) / count, file=answers, flush=True)


# The comparison

class Plain:
    """A process of the plain loop."""

    def __init__(self, words, options):
        self._process = subprocess.Popen(
            [sys.executable, '-B', __file__, '--plain', *words, '--scale', options.scale, '--files', options.files,
             '--batch', str(options.batch), '--min-run-ms', str(options.min_run_ms)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        if self._process.stdout.readline() != 'ready\n':
            raise SystemExit(f'the plain loop of {" ".join(words)} ended')

    def run(self):
        """Returns the milliseconds of a step."""
        self._process.stdin.write('\n')
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self):
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait()


class Measured:
    """A process of the worker, whose model is built, compiled and warm."""

    def __init__(self, words, options):
        sys.path.insert(0, str(TESTS))
        from worker import Worker, job
        test, model, backend = words
        self._worker = Worker()
        self._worker.send(job(f'test_{test}[{model}-cpu-{backend}]', ['latency'], True, models=str(options.files),
                              runs=options.runs, min_run_ms=options.min_run_ms, scale=options.scale, seed=SEED,
                              batch=options.batch))
        self._wait()
        self.run()

    def _wait(self):
        self.answer = self._worker.read_until('ready', 'result', 'error')[-1]
        if self.answer['type'] == 'error':
            raise SystemExit(self.answer['text'])

    def run(self):
        """Lets the worker take one turn."""
        self._worker.send({'type': 'turn', 'id': 'job-1'})
        self._wait()

    def close(self):
        """Returns the milliseconds of the runs, and of the result."""
        self.run()
        self._worker.__exit__()
        latency = self.answer['metrics']['latency']
        return latency['samples'], latency['value']


def take_turns(words, options):
    """Returns the milliseconds of the worker and of the plain loop, run by run."""
    plain, worker, times = Plain(words, options), Measured(words, options), []
    for _ in range(options.runs):
        first = random.random() < 0.5
        if first:
            worker.run()
        times.append(plain.run())
        if not first:
            worker.run()
    plain.close()
    return worker.close()[0], times


def compare(words, options):
    """Prints a row. Returns the ratio."""
    pairs = [tuple(map(statistics.median, take_turns(words, options))) for _ in range(options.processes)]
    measured, plain = zip(*pairs)
    ratios = [ours / theirs for ours, theirs in pairs]
    low, ratio, high = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
    test, model, backend = words
    print(f'{model:28s} {test:5s} {backend:9s} {statistics.median(measured):10.3f} {statistics.median(plain):10.3f} '
          f'{ratio:8.4f}  {low:.4f} to {high:.4f}', flush=True)
    return ratio


def supported(backends):
    """Returns the backends that this PyTorch has."""
    import torch
    if hasattr(torch, 'compile'):
        return backends
    print(f'PyTorch {torch.__version__} has no torch.compile: eager only', flush=True)
    return [backend for backend in backends if backend == 'eager']


def main(options):
    """Returns the exit status."""
    backends = supported(options.backends)
    os.environ['OMP_NUM_THREADS'] = '1'
    print(f'{"model":28s} {"test":5s} {"backend":9s} {"worker ms":>10s} {"plain ms":>10s} {"ratio":>8s}  quartiles')
    rows = [(test, model, backend) for model in options.models for test in options.tests
            for backend in backends]
    ratios = [compare(words, options) for words in rows]
    return int(any(abs(ratio - 1) > options.limit for ratio in ratios))


if __name__ == '__main__':
    OPTIONS = options_of(sys.argv[1:])
    sys.exit(run_plain(OPTIONS) if OPTIONS.plain else main(OPTIONS))
