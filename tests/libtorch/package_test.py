#!/usr/bin/env python3
"""Measures a package that AOTInductor compiled, both by Debian 13's PyTorch.

usage: package_test.py DIRECTORY     directory of its root
"""
import json
import pathlib
import shutil
import sys
import unittest

from debian_13 import Debian13

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
FOLDER = pathlib.Path(sys.argv[-1]).resolve()
DESCRIPTION = {'inputs': [{'shape': ['batch', 256]}], 'batch': {'eval': 16}}


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.debian = Debian13(FOLDER / 'debian-13')
        home = cls.debian.root / 'opt'
        cls.make_worker(home)
        installed = cls.debian.run('apt-get', 'install', '-y', '--no-install-recommends', 'python3-torch',
                                   'python3-setuptools', 'python3-dev')
        if installed.returncode != 0:
            raise unittest.SkipTest(f'PyTorch for Python is unavailable: {installed.stderr}')
        (home / 'models').mkdir(exist_ok=True)
        shutil.copy(HERE / 'export_package.py', home)
        cls.debian.need('python3', '/opt/export_package.py', '/opt/models/net.pt2')
        (home / 'models/net.json').write_text(json.dumps(DESCRIPTION))

    @classmethod
    def make_worker(cls, home):
        for folder in ('runner', 'deploy'):
            shutil.rmtree(home / 'sources' / folder, ignore_errors=True)
            shutil.copytree(SOURCES / folder, home / 'sources' / folder)
        cls.debian.need('cmake', '-S', '/opt/sources/runner/worker', '-B', '/opt/worker', '-G', 'Ninja',
                        '-DTORCHWATCH_WERROR=OFF', '-DTORCHWATCH_MODELS=resnet18', '-DCMAKE_CXX_COMPILER_LAUNCHER=ccache',
                        environment={'CCACHE_SLOPPINESS': 'pch_defines,time_macros'})
        cls.debian.need('cmake', '--build', '/opt/worker', environment={'CCACHE_SLOPPINESS': 'pch_defines,time_macros'})

    def answer_to(self, benchmark, **measure):
        """Returns the worker's last message."""
        job = {'type': 'job', 'id': '1', 'benchmark': benchmark, 'measure': {'runs': 3, 'models': '/opt/models', **measure}}
        ended = self.debian.run('/opt/worker/bin/torchwatch-worker', input=json.dumps(job) + '\n')
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout.splitlines()[-1])

    def test_is_measured(self):
        result = self.answer_to('test_eval[net-cpu-aoti]')
        self.assertEqual(result['type'], 'result', result)
        self.assertGreater(result['metrics']['latency']['value'], 0)
        self.assertGreaterEqual(result['metrics']['cmem']['value'], 4 * 16 * 8)
        self.assertEqual(result['metrics']['leak']['value'], 0)

    def test_is_not_trained(self):
        refusal = self.answer_to('test_train[net-cpu-aoti]')
        self.assertEqual(refusal['code'], 'unsupported')
        self.assertIn('packages of aoti support only eval', refusal['text'])

    def test_that_is_missing_is_named(self):
        shutil.copy(self.debian.root / 'opt/models/net.json', self.debian.root / 'opt/models/other.json')
        failure = self.answer_to('test_eval[other-cpu-aoti]')
        self.assertEqual(failure['type'], 'error', failure)
        self.assertIn('other.pt2', failure['text'])

    def test_of_other_bytes_is_one_failed_job(self):
        models = self.debian.root / 'opt/models'
        shutil.copy(models / 'net.json', models / 'broken.json')
        (models / 'broken.pt2').write_bytes((models / 'net.pt2').read_bytes()[:1000])
        failure = self.answer_to('test_eval[broken-cpu-aoti]')
        self.assertEqual(failure['type'], 'error', failure)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    FOLDER.mkdir(parents=True, exist_ok=True)
    unittest.main(argv=sys.argv[:1], verbosity=2)
