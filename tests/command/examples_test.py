#!/usr/bin/env python3
"""Runs the examples of deploy/examples with torchwatch-command, and a stand-in for PyTorch.

usage: examples_test.py COMMAND     COMMAND: the program torchwatch-command
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / 'deploy/examples'
# Accepts any call, so that the examples run as they are.
STAND_IN = """
import sys
from unittest import mock
sys.modules['torch'] = mock.MagicMock()
"""


class Examples(unittest.TestCase):
    program = ''

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        torch = pathlib.Path(self.folder.name) / 'nightly/torch'
        torch.mkdir(parents=True)
        (torch / '__init__.py').write_text(STAND_IN)
        (torch / 'version.py').write_text("__version__ = '2.14.0'\n")
        self.prefix = str(torch)

    def answer_to(self, command, metrics, waits=False):
        """Returns the last message of the program for a job with three runs."""
        job = {'type': 'job', 'id': '1', 'benchmark': 'test_run[example-cpu-examples]', 'metrics': metrics,
               'command': command, 'waits': waits, 'build': {'prefix': self.prefix}, 'measure': {'runs': 3}}
        done = subprocess.run([self.program], input=json.dumps(job) + '\n', text=True, cwd=self.folder.name,
                              capture_output=True, timeout=120, check=True,
                              env={**os.environ, 'PYTHONPATH': os.path.dirname(self.prefix)})  # as the runner does
        return json.loads(done.stdout.splitlines()[-1])

    def check(self, command, metrics, waits=False):
        answer = self.answer_to(command, metrics, waits)
        self.assertEqual(answer['type'], 'result', answer)
        self.assertEqual(set(answer['metrics']), set(metrics))
        for metric in metrics:
            self.assertEqual(len(answer['metrics'][metric]['samples']), 3)
        self.assertEqual(answer['pytorch_version'], '2.14.0')

    def test_shell_command(self):
        self.check(['sh', str(EXAMPLES / 'import_time.sh')], ['import_time'])

    def test_training_loop(self):
        self.check(['python3', str(EXAMPLES / 'train.py')], ['tokens_per_s'], waits=True)

    def test_server(self):
        self.check(['python3', str(EXAMPLES / 'serve.py')], ['ttft', 'tokens_per_s'])

    def test_each_has_at_most_20_lines(self):
        files = [file for file in EXAMPLES.iterdir() if not file.name.startswith('.')]
        self.assertEqual(len(files), 4)
        for file in files:
            self.assertLessEqual(len(file.read_text().splitlines()), 20, file.name)


if __name__ == '__main__':
    Examples.program = sys.argv.pop()
    unittest.main()
