"""Compilers by name, cold compilation, and the compiler's counters."""
import contextlib
import importlib
import os
import time

import torch

from torchwatch_worker import caches
from torchwatch_worker.failures import COMPILER_NEEDS, Unsupported

CHOSEN = frozenset(os.environ)  # Inductor sets the variable of its cache itself

# What torch.compile takes for each backend; None: nothing is compiled
BACKENDS = {
    'eager': None,
    'inductor': {'backend': 'inductor'},
    'inductor_dynamic': {'backend': 'inductor', 'dynamic': True},
    'cudagraphs': {'backend': 'inductor', 'mode': 'reduce-overhead'},
    'aot_eager': {'backend': 'aot_eager'},
    'aot_eager_dynamic': {'backend': 'aot_eager', 'dynamic': True},
}


def is_compiled(backend):
    """True when the backend compiles."""
    return BACKENDS[backend] is not None


def uses_inductor(backend):
    """True when Inductor generates code."""
    return is_compiled(backend) and BACKENDS[backend]['backend'] == 'inductor'


def require(backend, device):
    """Throws Unsupported when this PyTorch or device cannot compile."""
    if not is_compiled(backend):
        return
    if not hasattr(torch, 'compile'):
        raise Unsupported(f'backend "{backend}" is not supported; PyTorch {torch.__version__} has no torch.compile')
    if backend == 'cudagraphs' and device != 'cuda':
        raise Unsupported('backend "cudagraphs" is not supported on the CPU; it needs the device cuda')


def _find_vector_instructions():
    """Has Inductor try the CPU's vector instructions. A process does that once, in child processes that import torch,
    even when a cache has all compiled code. Throws Unsupported when a package is missing."""
    try:
        from torch._inductor.cpu_vec_isa import pick_vec_isa
    except ImportError:  # another release; it does so when it compiles
        return
    try:
        pick_vec_isa()
    except ModuleNotFoundError as problem:
        raise Unsupported(f'{problem}; {COMPILER_NEEDS}') from problem


def import_dynamo():
    """Imports the front of the compiler, if this PyTorch has one. Optimizers import it too, but within a turn."""
    if hasattr(torch, 'compile'):
        importlib.import_module('torch._dynamo')


def load(setup):
    """Imports the compiler, which takes seconds. Returns the seconds. Throws Unsupported when it does not work with
    this Python."""
    begun = time.perf_counter()
    if is_compiled(setup.backend) or setup.trains:
        import_dynamo()
    if is_compiled(setup.backend):
        try:
            compiler_of(setup.backend)(_twice)
        except RuntimeError as problem:
            raise Unsupported(f'backend "{setup.backend}" is not supported; torch.compile: {problem}') from problem
    if uses_inductor(setup.backend):
        importlib.import_module('torch._inductor.compile_fx')
        if setup.device == 'cpu':
            _find_vector_instructions()
    return time.perf_counter() - begun


def compiler_of(backend):
    """Returns a function that compiles a function."""
    options = BACKENDS[backend]
    return lambda function: torch.compile(function, **options)


def mark_step(backend):
    """Marks that a new iteration of CUDA graphs begins, so that outputs of the one before may be overwritten."""
    if backend == 'cudagraphs' and hasattr(torch, 'compiler'):
        torch.compiler.cudagraph_mark_step_begin()


def _twice(tensor):
    return tensor * 2 + 1


def fresh_cache(backend):
    """Returns a context in which compiled code is neither found nor kept."""
    if not uses_inductor(backend):
        return contextlib.nullcontext()
    from torch._inductor import utils
    make = getattr(utils, 'fresh_cache', None) or getattr(utils, 'fresh_inductor_cache', None)
    return make() if make else contextlib.nullcontext()


def has_cache():
    """True when there is a cache of Inductor from before, or the environment of the process chose a place for one.
    Precompiled headers and programs that try the CPU are no cache."""
    return caches.VARIABLE in CHOSEN or any(
        os.path.isdir(os.path.join(caches.default_place(), folder)) for folder in caches.FOLDERS_OF_GRAPHS)


def _first_step(workload, setup):
    begun = time.perf_counter()
    workload.step()
    setup.synchronize()
    return time.perf_counter() - begun


def _forget(backend):
    """Discards compiled code and counts of this process."""
    from torch._dynamo.utils import counters
    torch._dynamo.reset()
    counters.clear()
    if uses_inductor(backend):
        from torch._inductor import metrics
        metrics.reset()


def compile_now(workload, setup):
    """Compiles the workload by its first step. Returns the seconds."""
    _forget(setup.backend)
    workload.compile(compiler_of(setup.backend))
    return _first_step(workload, setup)


def _start_compiler(setup):
    """Compiles a small function, so that what a process does once does not count as compilation. Returns the
    seconds."""
    begun = time.perf_counter()
    with fresh_cache(setup.backend):
        compiler_of(setup.backend)(_twice)(torch.ones(8, device=setup.device))
        setup.synchronize()
    return time.perf_counter() - begun


def compile_cold(workload, setup):
    """Compiles the workload with a fresh cache, after an eager step and the start of the compiler. Returns the
    seconds of the compilation, and of what came before. A job that fills empty caches compiles into them."""
    before = {'first_step_s': _first_step(workload, setup), 'compiler_start_s': _start_compiler(setup)}
    with contextlib.nullcontext() if setup.is_filling else fresh_cache(setup.backend):
        return compile_now(workload, setup), before


def prepare(workload, setup):
    """Compiles the workload if its backend does. Returns the seconds of a cold compilation, or nothing if the job does
    not ask for them, and accounts. For eager code these are the seconds of the first step."""
    if not is_compiled(setup.backend):
        seconds = _first_step(workload, setup)
        return seconds, {'first_step_s': seconds}
    if 'compile' not in setup.metrics:
        return None, {'compile_s': compile_now(workload, setup)}
    cold, accounts = compile_cold(workload, setup)
    # Without a cache from before, the code compiled in the fresh one is as good, and is there already
    is_cached = uses_inductor(setup.backend) and has_cache() and not setup.is_filling
    warm = compile_now(workload, setup) if is_cached else cold
    return cold, {**accounts, 'cold_compile_s': cold, 'compile_s': warm}


def _cache_counts(counters):
    """Returns how many compiled graphs a cache held, did not hold, and could not hold. Some releases keep them in the
    cache of AOTAutograd, and then do not count them in Inductor's."""
    inductor, autograd = counters['inductor'], counters['aot_autograd']
    kinds = {'cache_hits': 'hit', 'cache_misses': 'miss', 'cache_bypasses': 'bypass'}
    found = {name: inductor.get('fxgraph_cache_' + kind, 0) for name, kind in kinds.items()}
    if any(found.values()):
        return found
    return {name: autograd.get('autograd_cache_' + kind, 0) for name, kind in kinds.items()}


def _kernels(backend):
    if not uses_inductor(backend):
        return 0
    from torch._inductor import metrics
    return metrics.generated_kernel_count


def counts(backend):
    """Returns graph breaks, graphs, generated kernels, and use of the caches, since the last compilation."""
    if not is_compiled(backend):
        return {'graph_breaks': 0, 'kernels': 0}
    from torch._dynamo.utils import counters
    return {'graph_breaks': sum(counters['graph_break'].values()),
            'graphs': counters['stats'].get('unique_graphs', 0), 'kernels': _kernels(backend),
            **_cache_counts(counters)}
