#!/usr/bin/env python3
"""Runs the tests of the worker with the PyTorch of Debian 13, which has torch.compile, and checks nightlies there.

usage: in_debian_13.py DIRECTORY PACKAGES     DIRECTORY: of its root; PACKAGES: where `deploy/debian/build 13` put them
"""
import json
import pathlib
import shutil
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
sys.path.insert(0, str(HERE.parent / 'libtorch'))

from debian_13 import Debian13  # noqa: E402  (in the folder above)

if len(sys.argv) != 3:
    sys.exit(__doc__.strip())
FOLDER, PACKAGES_FOLDER = (pathlib.Path(word).resolve() for word in sys.argv[1:])
# Inductor needs a C++ compiler, which the root has, headers, and setuptools
PACKAGES = ('python3-torch', 'python3-torchvision', 'python3-setuptools', 'python3-dev')
NEEDED = ('runner/python', 'tests/python_worker', 'tests/bench')
IN_ROOT = '/opt/python_worker'


class InDebian13(unittest.TestCase):
    """A test in a Debian 13 with PyTorch for Python, and with the worker and its tests."""

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


class Worker(InDebian13):
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


class Nights(InDebian13):
    """`torchwatch check` on nightlies that Inductor compiles, with a cache for each build."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        packages = sorted(PACKAGES_FOLDER.glob('torchwatch_*.deb'))
        if not packages:
            raise unittest.SkipTest(f'no torchwatch_*.deb in {PACKAGES_FOLDER}: deploy/debian/build 13 makes it')
        shutil.copy(packages[-1], cls.debian.root / 'root/torchwatch.deb')
        cls.debian.need('apt-get', 'install', '-y', '--reinstall', '--no-install-recommends', 'bubblewrap', 'git',
                        '/root/torchwatch.deb')
        cls.found = json.loads(cls.need_in_root(
            'sh', '-c', 'rm -rf /srv/nights && exec "$@"', 'sh', 'python3', '-B',
            f'{IN_ROOT}/tests/python_worker/nights/check_nights.py', '/srv/nights',
            f'{IN_ROOT}/tests/python_worker/model_files'))

    @classmethod
    def need_in_root(cls, *words):
        """Returns the output of a command that can make sandboxes. It must succeed."""
        ended = subprocess.run([SOURCES / 'deploy/debian/in-root', cls.debian.root, *words], text=True, check=False,
                               capture_output=True)
        if ended.returncode != 0:
            raise AssertionError(ended.stdout[-10000:] + ended.stderr[-10000:])
        return ended.stdout

    def verdicts(self, night):
        return {verdict['name']: verdict['verdict'] for verdict in self.found['nightlies'][night]['verdicts']}

    def test_that_change_nothing_are_unchanged(self):
        self.assertEqual(set(self.verdicts(1).values()), {'unchanged'})
        self.assertEqual(self.found['nightlies'][1]['incidents'], [])

    def test_that_fuse_nothing_are_regressions_of_compiled_code(self):
        moved = {name for name, verdict in self.verdicts(2).items() if verdict == 'regression'}
        self.assertEqual(moved, {f'test_eval[fusable-cpu-inductor]_{metric}' for metric in ('latency', 'cmem', 'kernels')})

    def test_that_fuse_nothing_are_bisected_to_the_commit(self):
        (incident,) = self.found['nightlies'][2]['incidents']
        (finding,) = incident['bisections'][0]['findings']
        self.assertEqual(finding['culprit']['sha'], self.found['culprit'])


if __name__ == '__main__':
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
