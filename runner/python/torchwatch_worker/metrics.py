"""The metrics that the worker measures."""
from torchwatch_worker.failures import Unsupported

# As an operator's configuration declares them (suites[].metrics)
DECLARATIONS = {
    'latency': {'unit': 'ms', 'better': 'lower', 'kind': 'noisy'},
    'cmem': {'unit': 'bytes', 'better': 'lower', 'kind': 'exact'},
    'gmem': {'unit': 'bytes', 'better': 'lower', 'kind': 'exact'},
    'leak': {'unit': 'bytes/iteration', 'better': 'lower', 'kind': 'noisy'},
    'compile': {'unit': 's', 'better': 'lower', 'kind': 'noisy', 'threshold': 0.15, 'floor': 0.5},
    'graph_breaks': {'unit': '1', 'better': 'lower', 'kind': 'exact'},
    'kernels': {'unit': '1', 'better': 'lower', 'kind': 'exact'},
}
NATIVE = {'cpu': ('latency', 'cmem', 'leak'), 'cuda': ('latency', 'cmem', 'gmem', 'leak')}


def wanted(job, device):
    """Returns the names of the job's metrics, or the native ones of the device. Throws Unsupported for others."""
    for name in job.metrics:
        if name not in DECLARATIONS:
            raise Unsupported(f'metric "{name}" is not supported; one of {", ".join(DECLARATIONS)}')
    return set(job.metrics or NATIVE[device])
