"""The measurement of one job."""
import gc
import time

import torch

from torchwatch_worker import compiling, host, memory, profiling, samples, timing, workloads


def _set_options(measure):
    host.set_threads(measure.threads)
    if measure.tf32 != 'default':
        is_allowed = measure.tf32 == 'on'
        torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = is_allowed


def _load(setup):
    """Imports the model and the compiler. The workers of a round do this at once, before their first turn. Without
    Python's garbage collector, the compiler's import takes a third less."""
    begun = time.perf_counter()
    gc.disable()
    try:
        source = workloads.find(setup)
        source.load()
        return source, {'load_s': time.perf_counter() - begun, 'compiler_import_s': compiling.load(setup)}
    finally:
        gc.enable()


def _build(source, setup):
    begun = time.perf_counter()
    workload = workloads.build(source, setup)
    setup.synchronize()
    return workload, {'build_s': time.perf_counter() - begun}


def measure(setup, session):
    """Returns metrics, accounts and the profile of the job. Waits for a turn before it builds the model, before every
    timed run, and after the last."""
    _set_options(setup.measure)
    leftover = memory.bytes_of_host_tensors() if 'cmem' in setup.metrics else 0
    source, accounts = _load(setup)
    session.wait_for_turn()
    session.progress('build')
    workload, seconds = _build(source, setup)
    cold, compiled = compiling.prepare(workload, setup)
    metrics = {'latency': timing.measure_latency(workload, setup, session)}
    if cold is not None:
        metrics['compile'] = samples.noisy([cold])
    counts = compiling.counts(setup.backend)
    metrics.update({name: samples.exact(counts[name]) for name in ('graph_breaks', 'kernels')})
    kept, used = memory.measure_memory(workload, setup, session, leftover)
    metrics.update(kept)
    profile = profiling.measure_profile(workload, setup, session) if setup.measure.profile else []
    reported = {name: value for name, value in metrics.items() if name in setup.metrics}
    return reported, {**accounts, **seconds, **compiled, **counts, **used}, profile
