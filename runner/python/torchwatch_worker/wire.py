"""The worker's end of the conversation with the runner."""
import json
import os

from torchwatch_worker.protocol import MAX_LINE_BYTES, ProtocolError


class Channel:
    """Lines to and from the runner, on descriptors that models cannot reach by number 0 or 1."""

    def __init__(self, reading, writing):
        self._input = os.fdopen(reading, 'rb')
        self._output = writing

    def read_line(self):
        """Returns the next line, or nothing at the end of input. Throws ProtocolError for a line that is too long."""
        line = self._input.readline(MAX_LINE_BYTES + 1)
        if len(line) > MAX_LINE_BYTES:
            self._skip_line(line)
            raise ProtocolError(f'a line of more than {MAX_LINE_BYTES} bytes')
        return line.decode('utf-8', 'replace')

    def write_object(self, message):
        """Writes the object as one line. Returns 0, the exit status of success. Throws ValueError for NaN."""
        text = json.dumps(message, allow_nan=False) + '\n'
        left = memoryview(text.encode())
        while left:
            left = left[os.write(self._output, left):]
        return 0

    def close(self):
        """Closes both directions."""
        self._input.close()
        os.close(self._output)

    def _skip_line(self, part):
        while part and not part.endswith(b'\n'):
            part = self._input.readline(MAX_LINE_BYTES)


def claim_standard_streams():
    """Returns the channel on standard input and output. From then on, what anything else prints to standard output goes
    to standard error, and reading standard input finds its end. Child processes do not inherit the channel."""
    channel = Channel(os.dup(0), os.dup(1))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return channel
