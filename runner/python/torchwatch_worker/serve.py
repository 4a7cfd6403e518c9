"""The worker's loop: hello, then an answer to each job."""
import gc
import os
import sys
import time
import traceback

gc.disable()  # imports make no garbage worth collecting

from torchwatch_worker import caches, host, protocol  # noqa: E402  (in the order of their effects)
from torchwatch_worker.failures import NoDevice, Unsupported, failure_of  # noqa: E402
from torchwatch_worker.turns import Session  # noqa: E402

host.keep_freed_memory()
COPIED = caches.take_over()
os.environ.setdefault('TORCH_DEVICE_BACKEND_AUTOLOAD', '0')  # the search for other devices takes long
host.import_torch()

import torch  # noqa: E402  (after what it reads)

from torchwatch_worker import measuring, workloads  # noqa: E402
from torchwatch_worker.setup import setup_of  # noqa: E402

gc.enable()
IMPORTED = time.monotonic()


def _hello():
    return {'type': 'hello', 'protocol': protocol.VERSION, 'role': 'worker', 'pytorch_version': torch.__version__,
            'git_hash': host.git_hash(), 'devices': host.devices(), 'fingerprint': host.fingerprint()}


def _own_accounts(started):
    return {'import_s': IMPORTED - started, 'rss_peak_bytes': host.peak_resident_bytes(),
            'cache_bytes_copied': COPIED}


def _result(job, channel, started):
    begun = time.monotonic()
    host.require_preloaded()
    host.require_build(job.prefix)
    setup = setup_of(job)
    metrics, accounts, profile = measuring.measure(setup, Session(job, channel))
    return {'type': 'result', 'id': job.id, 'benchmark': job.benchmark, 'metrics': metrics,
            'accounts': {**accounts, **_own_accounts(started)}, 'profile': profile,
            'pytorch_version': torch.__version__, 'git_hash': host.git_hash(),
            'fingerprint': {**host.fingerprint(), **workloads.fingerprint(setup)},
            'seconds': time.monotonic() - begun}


def _run(job, channel, started):
    """Answers the job. Any error costs this job alone, also an answer with a number that is not finite."""
    try:
        channel.write_object(_result(job, channel, started))
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # a model may raise SystemExit
        if not isinstance(problem, (Unsupported, NoDevice)):
            traceback.print_exc(file=sys.stderr)
        channel.write_object(protocol.error(job.id, *failure_of(job, problem)))


def _remove_temporary_files():
    """Removes the folder that torch.distributed makes when it is imported."""
    module = sys.modules.get('torch.distributed.nn.jit.instantiator')
    folder = getattr(module, '_TEMP_DIR', None)
    if folder is not None:
        folder.cleanup()


def serve(channel, started):
    """Answers jobs until the input ends. `started`: time.monotonic() at the start of the program."""
    torch.set_num_interop_threads(1)
    channel.write_object(_hello())
    while True:
        try:
            line = channel.read_line()
            if not line:
                break
            job = protocol.decode_job(line)
        except protocol.ProtocolError as problem:
            channel.write_object(protocol.error('', 'protocol', str(problem)))
            continue
        _run(job, channel, started)
    _remove_temporary_files()
    sys.stderr.flush()
    os._exit(0)  # compile workers and CUDA take longer to end than the runner waits
