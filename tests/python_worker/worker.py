"""Starts torchwatch-python-worker as the runner does, and asks it."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
WORKER = pathlib.Path(os.environ.get('TORCHWATCH_PYTHON_WORKER',
                                     HERE.parent.parent / 'runner/python/torchwatch-python-worker'))
SOURCES = HERE.parent.parent / 'runner/python'
CHECKOUT, MODEL_FILES = str(HERE / 'checkout'), str(HERE / 'model_files')
QUICK = {'runs': 3, 'warmup': 2, 'min_run_ms': 1, 'leak_iterations': 8, 'scale': 'smoke'}
sys.path.insert(0, str(SOURCES))


def job(benchmark, metrics=(), takes_turns=False, **measure):
    """Returns the message of a job."""
    return {'type': 'job', 'id': 'job-1', 'benchmark': benchmark, 'build': {}, 'limits': {}, 'metrics': list(metrics),
            'measure': {**QUICK, **measure}, 'takes_turns': takes_turns}


class Worker:
    """A running worker, whose hello has been read."""

    def __init__(self, command=None, **environment):
        variables = {**os.environ, 'OMP_NUM_THREADS': '1', **environment}
        self._errors = tempfile.TemporaryFile('w+')  # a pipe that is full would stop the worker
        self.process = subprocess.Popen(command or [sys.executable, '-B', WORKER], stdin=subprocess.PIPE, text=True,
                                        stdout=subprocess.PIPE, stderr=self._errors, env=variables)
        self.hello = self.read()

    def __enter__(self):
        return self

    def __exit__(self, *problem):
        self.process.stdin.close()
        self.status = self.process.wait(timeout=60)
        self.process.stdout.close()
        self._errors.close()

    def send(self, message):
        """Sends an object, or a text as it is."""
        line = message if isinstance(message, str) else json.dumps(message)
        self.process.stdin.write(line + '\n')
        self.process.stdin.flush()

    def read(self):
        """Returns the next message."""
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError('the worker ended: ' + self.errors()[-4000:])
        return json.loads(line)

    def errors(self):
        """Returns what the worker has written to standard error."""
        self._errors.seek(0)
        return self._errors.read()

    def read_until(self, *kinds):
        """Returns the messages up to the first of one of the kinds."""
        messages = [self.read()]
        while messages[-1]['type'] not in kinds:
            messages.append(self.read())
        return messages

    def ask(self, message):
        """Returns the answer to a job without turns."""
        self.send(message)
        return self.read_until('result', 'error')[-1]


def ask(*words, **measure):
    """Returns the answer of a new worker to one job."""
    with Worker() as worker:
        return worker.ask(job(*words, **measure))
