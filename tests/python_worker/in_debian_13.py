#!/usr/bin/env python3
"""Runs the tests of the worker with the PyTorch of Debian 13, which has torch.compile.

usage: in_debian_13.py DIRECTORY     directory of its root
"""
import pathlib
import shutil
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / 'libtorch'))

from debian_13 import Debian13  # noqa: E402  (in the folder above)

FOLDER = pathlib.Path(sys.argv[-1]).resolve()
# Inductor needs a C++ compiler, which the root has, headers, and setuptools
PACKAGES = ('python3-torch', 'python3-torchvision', 'python3-setuptools', 'python3-dev')
NEEDED = ('runner/python', 'tests/python_worker', 'tests/bench')
IN_ROOT = '/opt/python_worker'


class Worker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.debian = Debian13(FOLDER / 'debian-13')
        installed = cls.debian.run('apt-get', 'install', '-y', '--no-install-recommends', *PACKAGES)
        if installed.returncode != 0:
            raise unittest.SkipTest(f'PyTorch for Python is unavailable: {installed.stderr}')
        root = cls.debian.root / IN_ROOT.removeprefix('/')
        shutil.rmtree(root, ignore_errors=True)
        for folder in NEEDED:
            shutil.copytree(SOURCES / folder, root / folder)

    def python(self, *words):
        """Returns the result of Python inside the root."""
        return self.debian.run('python3', '-B', *words, environment={'OMP_NUM_THREADS': '1'})

    def test_passes_its_tests_with_torch_compile(self):
        ended = self.python('-m', 'unittest', 'discover', '--start-directory', f'{IN_ROOT}/tests/python_worker',
                            '--pattern', '*_test.py')
        self.assertEqual(ended.returncode, 0, ended.stderr[-10000:])
        self.assertNotIn('has no torch.compile', ended.stderr)

    def test_is_compared_with_a_plain_loop(self):
        ended = self.python(f'{IN_ROOT}/tests/bench/python_worker_latency.py', '--models', 'net,fusable',
                            '--processes', '1', '--runs', '3', '--min-run-ms', '5')
        self.assertEqual(ended.returncode, 0, ended.stderr[-10000:])
        self.assertRegex(ended.stdout, r'(?s)net +eval +eager +.*fusable +eval +inductor +[0-9.]+ +[0-9.]+ +[0-9.]+ ')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
