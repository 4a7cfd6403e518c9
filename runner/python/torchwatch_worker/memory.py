"""Memory of iterations: exact bytes of PyTorch's allocators."""
import gc
import warnings

import torch

from torchwatch_worker import samples, timing

STEPS_OF_A_PEAK = 3  # a model that does not leak has its peak in each step
MARK = 'torchwatch iteration'
START = 'torchwatch start'


def _storage_of(tensor):
    return tensor.untyped_storage() if hasattr(tensor, 'untyped_storage') else tensor.storage()


def bytes_of_host_tensors():
    """Returns the bytes of all tensors on the CPU now. The profiler reports only changes."""
    storages = {}
    for thing in gc.get_objects():
        if type(thing) not in (torch.Tensor, torch.nn.Parameter) or thing.device.type != 'cpu':
            continue
        try:
            storage = _storage_of(thing)
            storages[storage.data_ptr()] = storage.nbytes()
        except (NotImplementedError, RuntimeError):  # sparse tensors, and those that functorch wraps
            continue
    return sum(storages.values())


def _start_of(event):
    """Nanoseconds. Releases before 2.2 report microseconds."""
    return event.start_ns() if hasattr(event, 'start_ns') else event.start_us() * 1000


def _end_of(event):
    return _start_of(event) + (event.duration_ns() if hasattr(event, 'duration_ns') else event.duration_us() * 1000)


def _is_of_host(event):
    return event.name() == '[memory]' and str(event.device_type()).endswith('CPU')


def peak_and_held(events, before):
    """Returns the peak, and the bytes held at the end of each marked iteration, of PyTorch's allocator for the CPU.
    `before`: what was held at the mark of the start."""
    start = max(_end_of(event) for event in events if event.name() == START)
    ends = sorted(_end_of(event) for event in events if event.name() == MARK)
    changes = sorted(((_start_of(event), event.nbytes()) for event in events
                      if _is_of_host(event) and _start_of(event) > start), key=lambda change: change[0])
    live = peak = before
    held = []
    for when, change in changes:
        while len(held) < len(ends) and when > ends[len(held)]:
            held.append(live)
        live += change
        peak = max(peak, live)
    return peak, held + [live] * (len(ends) - len(held))


def _requested_on_device():
    """Bytes that tensors requested. Blocks of the allocator are larger, and their sums vary even without a leak."""
    stats = torch.cuda.memory_stats()
    return stats.get('requested_bytes.all.current', stats['allocated_bytes.all.current'])


def _marked_step(workload, setup):
    from torch.profiler import record_function
    with record_function(MARK):
        timing.time_steps(workload, setup, 1)
        gc.collect()


def _begin(workload, setup):
    """Takes a step, marks the start, and returns the bytes that are held then. The profiler does not report that a
    block from before its time is freed, such as a gradient, so these must be new."""
    from torch.profiler import record_function
    timing.time_steps(workload, setup, 1)
    gc.collect()
    before = bytes_of_host_tensors()
    gc.freeze()
    with record_function(START):
        return before


def _profiled_steps(workload, setup, count):
    """Takes `count` steps under the profiler. Returns the peak on the host, and what the host and the device held after
    each step."""
    from torch.profiler import ProfilerActivity, profile
    on_device = []
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as trace:
        before = _begin(workload, setup)
        for _ in range(count):
            _marked_step(workload, setup)
            if setup.device == 'cuda':
                on_device.append(_requested_on_device())
    peak, on_host = peak_and_held(trace.profiler.kineto_results.events(), before)
    return peak, on_host, on_device


def _host_metrics(workload, setup, session, leftover):
    """Returns cmem without `leftover`, and leak of the device's memory or else of the host's."""
    count = setup.measure.leak_iterations if 'leak' in setup.metrics else STEPS_OF_A_PEAK
    session.progress('leak', 0, count)
    try:
        peak, on_host, on_device = _profiled_steps(workload, setup, count)
    finally:
        gc.unfreeze()
    session.progress('leak', count, count)
    return {'cmem': samples.exact(max(peak - leftover, 0)), 'leak': samples.leak(on_device or on_host)}


def _device_metrics():
    stats = torch.cuda.memory_stats()
    free, total = torch.cuda.mem_get_info()
    accounts = {'gpu_reserved_peak_bytes': stats['reserved_bytes.all.peak'], 'gpu_device_used_bytes': total - free}
    if 'requested_bytes.all.peak' in stats:
        accounts['gpu_requested_peak_bytes'] = stats['requested_bytes.all.peak']
    return {'gmem': samples.exact(torch.cuda.max_memory_allocated())}, accounts


def _reset(setup):
    gc.collect()
    if setup.device == 'cuda':
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def measure_memory(workload, setup, session, leftover):
    """Returns cmem, gmem and leak, as far as the job asks for them, and accounts. Uses the workload that was timed,
    because building it again would compile it again. On the CPU, gmem is 0. `leftover`: the bytes of tensors that
    earlier jobs of this process left on the host."""
    wanted = setup.metrics & {'cmem', 'gmem', 'leak'}
    if not wanted:
        return {}, {}
    session.progress('memory')
    _reset(setup)
    found, accounts = {'gmem': samples.exact(0)}, {}
    if wanted & {'cmem', 'leak'}:
        with warnings.catch_warnings():
            warnings.simplefilter('ignore')
            found.update(_host_metrics(workload, setup, session, leftover))
    elif setup.device == 'cuda':
        timing.time_steps(workload, setup, setup.measure.warmup)
    if setup.device == 'cuda':
        on_device, accounts = _device_metrics()
        found.update(on_device)
    return found, accounts
