"""Times of iterations, as runner/worker/measure.cpp takes them."""
import gc
import math
import time

from torchwatch_worker import samples

MOST_WARM_UP_STEPS = 100
GAIN = 0.99  # a step counts as faster below this share of the record
DEVICE_WARM_UP_S = 1.0  # a GPU's clocks adapt slowly to its load
MOST_ITERATIONS = 10 ** 6
TO_SPARE = 1.1


def time_steps(workload, setup, iterations):
    """Returns the milliseconds of so many steps, until the device has finished the last one."""
    begun = time.perf_counter()
    for _ in range(iterations):
        workload.step()
    setup.synchronize()
    return (time.perf_counter() - begun) * 1e3


def _iterations_for(step_ms, setup):
    wanted = setup.measure.min_run_ms / max(step_ms, 1e-6)
    return int(min(max(math.ceil(wanted), 1), MOST_ITERATIONS))


def _piped_iterations(workload, setup, alone):
    """Returns the number of steps of a run on a GPU. Tries it out, because steps overlap with the host's work."""
    count = alone
    while count < MOST_ITERATIONS:
        took = time_steps(workload, setup, count)
        if took >= setup.measure.min_run_ms:
            break
        count = max(count + 1, _iterations_for(took / (TO_SPARE * count), setup))
    return count


def warm_up(workload, setup, session):
    """Takes steps until they get no faster. Returns the number of steps of a run that lasts at least min_run_ms."""
    least = DEVICE_WARM_UP_S if setup.device == 'cuda' else 0
    record = fastest = math.inf
    idle = steps = 0
    begun = time.perf_counter()
    while (idle < setup.measure.warmup and steps < MOST_WARM_UP_STEPS) or time.perf_counter() - begun < least:
        if steps % 10 == 0:
            session.progress('warmup', min(steps, MOST_WARM_UP_STEPS), MOST_WARM_UP_STEPS)
        last = time_steps(workload, setup, 1)
        fastest, steps = min(fastest, last), steps + 1
        idle, record = (0, last) if last < GAIN * record else (idle + 1, record)
    alone = _iterations_for(fastest, setup)
    return _piped_iterations(workload, setup, alone) if setup.device == 'cuda' else alone


def _timed_runs(workload, setup, session, iterations):
    for run in range(setup.measure.runs):
        session.progress('latency', run, setup.measure.runs)
        gc.collect()  # within the turn before; what is older is frozen
        session.wait_for_turn()
        if session.job.takes_turns and iterations > 1:
            time_steps(workload, setup, 1)  # the other worker left its own data in the caches
        yield time_steps(workload, setup, iterations) / iterations
    session.wait_for_turn()


def measure_latency(workload, setup, session):
    """Returns the latency in milliseconds. Waits for a turn before each run and after the last. Python's garbage is
    collected between runs only."""
    iterations = warm_up(workload, setup, session)
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        return samples.noisy(list(_timed_runs(workload, setup, session, iterations)))
    finally:
        gc.enable()
        gc.unfreeze()
