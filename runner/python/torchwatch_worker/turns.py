"""One job's conversation with the runner."""
from torchwatch_worker import protocol


class Session:
    """Sends progress, and waits for the turns of a job that takes turns."""

    def __init__(self, job, channel):
        self.job = job
        self._channel = channel

    def wait_for_turn(self):
        """Returns when the worker may work. Throws RuntimeError when the input ends instead."""
        if not self.job.takes_turns:
            return
        self._channel.write_object({'type': 'ready', 'id': self.job.id})
        line = self._channel.read_line()
        if not line:
            raise RuntimeError('input ended before the next turn')
        if not protocol.is_turn(line):
            raise protocol.ProtocolError('waited for a turn, found another message')

    def progress(self, phase, done=0, total=1):
        """Reports a phase of protocol.h: build, warmup, latency, memory, leak or profile."""
        self._channel.write_object(
            {'type': 'progress', 'id': self.job.id, 'phase': phase, 'done': done, 'total': total})
