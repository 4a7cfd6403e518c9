#!/usr/bin/env python3
"""Checks deploy/debian/supervise with a service of a few lines."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

SUPERVISE = pathlib.Path(__file__).resolve().parents[2] / 'deploy/debian/supervise'

SERVICE = '''#!/usr/bin/env python3
import os, pathlib, signal, socket, sys, time
root = pathlib.Path(sys.argv[1])
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
os.chdir(root / 'run')
manager.connect(os.path.basename(os.environ['NOTIFY_SOCKET']))
manager.send(b'READY=1')
while True:
    if not (root / 'blocked').exists():
        manager.send(b'WATCHDOG=1')
    time.sleep(0.1)
'''

# Instead of in-root and setpriv: runs the words after "--inh-caps=-all".
WITHOUT_ROOT = '''#!/bin/sh
while [ "$1" != --inh-caps=-all ]; do shift; done
shift
exec "$@"
'''

# Runs supervise with another in-root.
RUNNER = '''
import importlib.machinery
import importlib.util
import sys
loader = importlib.machinery.SourceFileLoader('supervise', sys.argv[1])
module = importlib.util.module_from_spec(importlib.util.spec_from_loader('supervise', loader))
loader.exec_module(module)
module.IN_ROOT = sys.argv[2]
sys.argv[1:] = sys.argv[3:]
sys.exit(module.main())
'''


class Supervise(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / 'run').mkdir()
        for name, text in {'service': SERVICE, 'without-root': WITHOUT_ROOT}.items():
            (self.root / name).write_text(text, encoding='utf-8')
            (self.root / name).chmod(0o755)
        (self.root / 'a.service').write_text(
            f'[Unit]\nRestart=no\n[Service]\nUser=root\nExecStart={self.root}/service {self.root}\nRestart=always\n'
            'RestartSec=0.1\nWatchdogSec=1\nTimeoutStopSec=5\nEnvironment=HOME=/nowhere\n', encoding='utf-8')
        self.process = subprocess.Popen(
            [sys.executable, '-B', '-c', RUNNER, SUPERVISE, self.root / 'without-root', self.root, 'a.service'],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        limit = threading.Timer(60, self.process.kill)
        limit.start()
        self.addCleanup(limit.cancel)
        self.addCleanup(self.end)

    def end(self):
        self.process.kill()
        self.process.communicate()

    def next_event(self, name):
        """Returns the process of the next event of that name."""
        for line in self.process.stdout:
            words = line.split()
            if words[0] == name:
                return int(words[1])
        self.fail(f'ended without "{name}"')

    def test_killed_service_is_started_again(self):
        first = self.next_event('ready')
        os.kill(first, signal.SIGKILL)
        self.assertNotEqual(self.next_event('ready'), first)

    def test_service_without_pulse_is_killed(self):
        first = self.next_event('ready')
        (self.root / 'blocked').touch()
        self.assertEqual(self.next_event('watchdog'), first)
        (self.root / 'blocked').unlink()
        self.assertNotEqual(self.next_event('ready'), first)

    def test_service_ends_with_the_supervisor(self):
        self.next_event('ready')
        self.process.terminate()
        self.next_event('ended')
        self.assertEqual(self.process.wait(), 0)


if __name__ == '__main__':
    unittest.main()
