#!/usr/bin/env python3
"""deploy/check-gpu, on a host without a GPU and on one that is scripted.

usage: check_gpu_test.py TORCHWATCH SCRIPTED_WORKER
"""
import copy
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CHECK_GPU = pathlib.Path(__file__).resolve().parent.parent.parent / 'deploy/check-gpu'
TORCHWATCH, WORKER = sys.argv.pop(1), sys.argv.pop(1)
MODELS = ['dcgan', 'lennard_jones', 'soft_actor_critic']


def name_of(test, model):
    return f'test_{test}[{model}-cuda-eager]'


def script():
    return {name_of(test, model): {'latency': 10.0, 'gmem': 1e8, 'noise': 0.005} for model in MODELS
            for test in ('train', 'eval')}


class CheckGpu(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def check(self, *words, **environment):
        return subprocess.run([CHECK_GPU, '--torchwatch', TORCHWATCH, '--work', self.folder / 'work', '--json',
                               self.folder / 'seen.json', *words], env={**os.environ, **environment}, text=True, check=False,
                              capture_output=True)

    def check_scripted(self, plain, planted):
        """What it says, and what it wrote."""
        for name, benchmarks in (('plain', plain), ('planted', planted)):
            (self.folder / name).mkdir()
            (self.folder / name / 'script.json').write_text(json.dumps({'benchmarks': benchmarks}))
            (self.folder / name / 'build.json').write_text(json.dumps({'commit': '0' * 40}))
        shutil.copy(WORKER, self.folder / 'worker')
        ended = self.check('--scripted', self.folder, *[word for model in MODELS for word in ('--model', model)])
        return ended, json.loads((self.folder / 'seen.json').read_text())

    def test_says_in_one_line_that_there_is_no_gpu(self):
        ended = self.check('/usr', CUDA_VISIBLE_DEVICES='')
        self.assertEqual(ended.returncode, 77, ended.stderr)
        self.assertRegex(ended.stdout, r'\Acheck-gpu: no GPU on this host: .+\n\Z')

    def test_finds_what_is_planted(self):
        planted = script()
        planted[name_of('eval', 'lennard_jones')]['latency'] = 12.0
        planted[name_of('train', 'dcgan')]['gmem'] = 1.3e8
        planted[name_of('train', 'soft_actor_critic')]['leak'] = 65536
        ended, seen = self.check_scripted(script(), planted)
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        self.assertIn('ok  planted: addmm starts its kernels twice       test_eval[lennard_jones-cuda-eager]_latency',
                      ended.stdout)
        self.assertTrue(seen['well'])
        self.assertEqual(seen['precisions']['bf16']['codes'], {'ok': 6})
        self.assertEqual(len(seen['precisions']['amp']['results']), 6)
        self.assertEqual(seen['same_build'], [])
        self.assertEqual(len(seen['planted']), 3)

    def test_is_not_content_with_less(self):
        plain = script()
        plain[name_of('train', 'dcgan')]['behave'] = 'crash'
        plain[name_of('eval', 'dcgan')]['gmem'] = 0
        ended, seen = self.check_scripted(plain, copy.deepcopy(plain))
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertRegex(ended.stdout, r'NO  models in fp32 +5 ok, 1 crashed; not seen on the GPU: '
                         r'test_eval\[dcgan-cuda-eager\]')
        self.assertRegex(ended.stdout, r'NO  planted: sigmoid keeps 64 KiB of every call +not found')
        self.assertFalse(seen['well'])
        self.assertEqual(seen['precisions']['fp32']['codes'], {'ok': 5, 'crashed': 1})

    def test_keeps_what_it_saw_when_something_stands_in_the_way(self):
        ended = self.check('--scripted', self.folder / 'nowhere')
        self.assertEqual(ended.returncode, 2, ended.stdout)
        self.assertEqual(json.loads((self.folder / 'seen.json').read_text())['device'], 'cuda')

    def test_wants_all_but_a_few_models_to_run(self):
        loader = importlib.machinery.SourceFileLoader('check_gpu', str(CHECK_GPU))
        program = importlib.util.module_from_spec(importlib.util.spec_from_loader('check_gpu', loader))
        loader.exec_module(program)
        self.assertTrue(program.is_enough({'ok': 148, 'unsupported': 9}))
        self.assertFalse(program.is_enough({'ok': 6, 'unsupported': 151}))
        self.assertFalse(program.is_enough({'ok': 3, 'device_memory': 154}))


if __name__ == '__main__':
    unittest.main(verbosity=2)
