"""Costs of operators per iteration."""
import collections

from torchwatch_worker import timing

MOST_OPERATORS = 2000


def _self_time(event, device):
    """Microseconds. Releases differ in the name of a device's time."""
    if device == 'cpu':
        return event.self_cpu_time_total
    return getattr(event, 'self_device_time_total', None) or getattr(event, 'self_cuda_time_total', 0)


def _calls(trace):
    """Returns the calls of each operator, from the profiler's own events. Its summary leaves out an operator that is
    called by one of its own name."""
    return collections.Counter(event.name() for event in trace.profiler.kineto_results.events()
                               if '::' in event.name() and str(event.device_type()).endswith('CPU'))


def _costs(trace, setup):
    runs, summary = setup.measure.runs, {event.key: event for event in trace.key_averages()}
    for name, calls in sorted(_calls(trace).items()):
        found = summary.get(name)
        microseconds = _self_time(found, setup.device) if found else 0
        yield {'name': name, 'calls': calls / runs, 'ms': microseconds / runs / 1e3,
               'bytes': max(getattr(found, 'self_cpu_memory_usage', 0), 0) / runs}


def measure_profile(workload, setup, session):
    """Returns the cost of each operator, without those that it calls, sorted by name. On a GPU the time is the
    device's."""
    from torch.profiler import ProfilerActivity, profile
    session.progress('profile')
    timing.time_steps(workload, setup, setup.measure.warmup)
    activities = [ProfilerActivity.CPU] + ([ProfilerActivity.CUDA] if setup.device == 'cuda' else [])
    with profile(activities=activities, profile_memory=True) as trace:
        timing.time_steps(workload, setup, setup.measure.runs)
    return list(_costs(trace, setup))[:MOST_OPERATORS]
