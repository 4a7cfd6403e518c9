"""A Debian 13 in its own root directory, with its LibTorch."""
import pathlib
import subprocess
import unittest

MAKE = pathlib.Path(__file__).resolve().parent.parent / 'e2e/make-debian-13'


class Debian13:
    """Skips the test when it cannot be created."""

    def __init__(self, root):
        self.root = root
        made = subprocess.run([MAKE, root], text=True, check=False, stdout=subprocess.PIPE)
        if made.returncode == 77:
            raise unittest.SkipTest(made.stdout)
        made.check_returncode()

    def run(self, *words, environment=None, **options):
        """Runs a command inside and returns its result."""
        variables = {'HOME': '/root', 'DEBIAN_FRONTEND': 'noninteractive', **(environment or {})}
        return subprocess.run(['unshare', f'--mount-proc={self.root}/proc', f'--root={self.root}', 'env',
                               *(f'{name}={value}' for name, value in variables.items()), *map(str, words)],
                              text=True, check=False, capture_output=True, **options)

    def need(self, *words, **options):
        """Runs a command inside, which must succeed."""
        ended = self.run(*words, **options)
        if ended.returncode != 0:
            raise AssertionError(f'{words[0]}: {ended.stdout[-10000:]}{ended.stderr[-10000:]}')
        return ended.stdout
