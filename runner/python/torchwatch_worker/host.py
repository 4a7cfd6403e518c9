"""Facts and settings of this host and the imported PyTorch (as in runner/worker/host.cpp)."""
import ctypes
import functools
import glob
import importlib.machinery
import importlib.util
import os
import platform
import re
import resource
import sys

LARGEST_MMAP_THRESHOLD = 32 << 20  # the limit that glibc's dynamic threshold reaches (mallopt(3))
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3
ALLOCATOR_VARIABLES = ('PYTORCH_ALLOC_CONF', 'PYTORCH_CUDA_ALLOC_CONF')


def keep_freed_memory():
    """Makes the C library keep freed memory, so that page faults do not depend on the heap's last block. Call it before
    torch is imported."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library
    mallopt(M_MMAP_THRESHOLD, LARGEST_MMAP_THRESHOLD)
    mallopt(M_TRIM_THRESHOLD, -1)


def import_torch():
    """Imports PyTorch. Ends this process, with the reason, when the build is for another Python."""
    try:
        import torch  # noqa: F401  (for its side effect)
    except ImportError:
        package = importlib.util.find_spec('torch')
        found = glob.glob('_C*.so', root_dir=os.path.dirname(package.origin)) if package else []
        if not found or {name.removeprefix('_C') for name in found} & set(importlib.machinery.EXTENSION_SUFFIXES):
            raise
        major, minor = sys.version_info[:2]
        raise SystemExit(f'torchwatch-python-worker: {sys.executable} is Python {major}.{minor}, and the build is for '
                         f'another one: {found[0]}. Set feed.python to "cp{major}{minor}", or put a python3 that fits '
                         'first in PATH') from None


def set_threads(count):
    """Sets the number of intra-operator threads, of PyTorch and of its BLAS library."""
    import torch
    torch.set_num_threads(count)
    try:
        ctypes.CDLL(None).openblas_set_num_threads(count)
    except (OSError, AttributeError):
        pass  # another BLAS library


def require_preloaded():
    """Throws RuntimeError when a library of LD_PRELOAD is not loaded. Without it, this is not the build to measure."""
    for library in os.environ.get('LD_PRELOAD', '').replace(':', ' ').split():
        try:
            ctypes.CDLL(library, mode=os.RTLD_LAZY | os.RTLD_NOLOAD)
        except OSError:
            raise RuntimeError(f'{library} could not be preloaded; it must fit this host, and be in the build, in /usr '
                               'or in a path of the fleet\'s `readable`') from None


def require_build(prefix):
    """Throws RuntimeError when the imported PyTorch is not that of the build in the directory `prefix`, which contains
    torch, or is torch. An empty prefix means the system's PyTorch."""
    import torch
    found = os.path.realpath(os.path.dirname(torch.__file__))
    places = (os.path.realpath(prefix), os.path.realpath(os.path.join(prefix, 'torch')))
    if prefix and found not in places and not found.startswith(places[0] + os.sep):
        raise RuntimeError(f'PyTorch was imported from {found}, not from the build {places[0]}; a Python suite needs '
                           'builds with the package torch: set "needs": "python" in the suite')


def peak_resident_bytes():
    """Returns the peak resident memory of this process."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def first_line(path, start=''):
    """Returns the rest of the first line of the file that begins with `start`; empty when there is none."""
    try:
        with open(path, encoding='utf-8', errors='replace') as file:
            return next((line[len(start):].strip() for line in file if line.startswith(start)), '')
    except OSError:
        return ''


def git_hash():
    """Returns the commit that PyTorch was built from; empty when the build does not contain it."""
    import torch
    commit = str(getattr(torch.version, 'git_version', ''))
    return commit if re.fullmatch('[0-9a-f]{40}', commit) else ''


def devices():
    """Returns the devices that PyTorch can use."""
    import torch
    return ['cpu'] + (['cuda'] if torch.cuda.is_available() else [])


def digest(text):
    """Returns the 64-bit FNV-1a hash: short, and equal on every host."""
    value = 0xcbf29ce484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001b3) % (1 << 64)
    return f'{value:016x}'


def _describe_gpu():
    import torch
    if not torch.cuda.is_available():
        return {}
    found = {'gpu': torch.cuda.get_device_name(0), 'gpu_runtime_cuda': str(torch.version.cuda)}
    driver = first_line('/sys/module/nvidia/version')
    if driver:
        found['gpu_driver'] = driver
    found.update({'gpu_allocator': os.environ[name] for name in ALLOCATOR_VARIABLES if name in os.environ})
    return found


def _version_of_triton():
    """Returns the version without the import of triton, which is slow; empty when there is none."""
    from importlib import metadata
    for package in ('triton', 'pytorch-triton'):
        try:
            return metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return ''


@functools.lru_cache(maxsize=1)
def _lasting_facts():
    import torch
    return {'host': platform.node(), 'kernel': platform.release(), 'python': platform.python_version(),
            'cpu': first_line('/proc/cpuinfo', 'model name').removeprefix('\t: ').removeprefix(': '),
            'governor': first_line('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'),
            'libtorch': torch.__version__, 'libtorch_config': digest(torch.__config__.show()),
            'triton': _version_of_triton(), **_describe_gpu()}


def fingerprint():
    """Returns host, kernel, CPU, allowed CPUs, threads, Python, PyTorch, and GPU and driver if any. Unavailable values
    are empty strings."""
    import torch
    return {**_lasting_facts(), 'threads': torch.get_num_threads(),
            'processors': first_line('/proc/self/status', 'Cpus_allowed_list:')}
