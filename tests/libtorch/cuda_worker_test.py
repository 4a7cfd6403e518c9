#!/usr/bin/env python3
"""Compiles a worker against Debian 13's LibTorch with CUDA, laid out as a wheel, checks what it loads, and runs it in a
Debian 13 without a GPU, where GPU jobs are refused and all others are measured.

usage: cuda_worker_test.py DIRECTORY     directory of the wheel; exit status 77: unavailable
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from debian_13 import Debian13

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
BUILD_WORKER = SOURCES / 'deploy/build-worker'
FOLDER = pathlib.Path(sys.argv[-1]).resolve()
WITH_TOOLKIT = {**os.environ, 'TORCHWATCH_CUDA_ROOTS': str(FOLDER / 'wheel/toolkit')}


def said(*words, check=True, **options):
    return subprocess.run([str(word) for word in words], text=True, check=check, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **options).stdout


class CudaWorker(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = FOLDER / 'wheel/torch/bin/torchwatch-worker'
        cls.worker.unlink(missing_ok=True)
        environment = {**WITH_TOOLKIT, 'TORCHWATCH_MODELS': 'resnet18', 'TORCHWATCH_CORES': '2'}
        cls.made = subprocess.run([BUILD_WORKER, FOLDER / 'wheel/torch', FOLDER / 'work'], env=environment, text=True,
                                  check=False, capture_output=True)

    def setUp(self):
        self.assertEqual(self.made.returncode, 0, self.made.stdout + self.made.stderr)

    def test_is_compiled_with_the_headers_next_to_it(self):
        self.assertIn(f'CUDA 12.4 headers in {FOLDER}/work/nvidia/cuda_runtime/include', self.made.stdout)

    def test_has_its_gpu_half(self):
        symbols = said('nm', '--dynamic', '--undefined-only', self.worker)
        self.assertRegex(symbols, r'\bcudaMemGetInfo@libcudart\.so\.12\b')
        self.assertRegex(symbols, r'CUDACachingAllocator')

    def test_can_be_planted_in(self):
        plants = FOLDER / 'plants'
        said('cmake', '-S', SOURCES / 'deploy/plants', '-B', plants, f'-DLibTorch_ROOT={FOLDER}/wheel/torch')
        said('cmake', '--build', plants)
        symbols = said('nm', '--dynamic', '--undefined-only', '--demangle', plants / 'plants.so')
        for operator in ('addmm', 'tanh', 'sigmoid'):
            self.assertIn(f'at::cuda::{operator}(', symbols)

    def test_loads_the_runtime_next_to_it(self):
        dynamic = said('readelf', '--dynamic', '--wide', self.worker)
        needed = set(re.findall(r'\(NEEDED\).*\[(.*)\]', dynamic))
        self.assertLessEqual({'libtorch.so.2.6', 'libtorch_cpu.so.2.6', 'libtorch_cuda.so.2.6', 'libc10.so.2.6',
                              'libc10_cuda.so.2.6', 'libcudart.so.12'}, needed)
        self.assertIn('$ORIGIN/../lib:$ORIGIN/../../nvidia/cuda_runtime/lib', dynamic)
        # A loader that is older than these libraries still prints their paths
        found = dict(re.findall(r'^\s*(\S+) => (\S+)', said('ldd', self.worker, check=False), re.M))
        self.assertEqual(pathlib.Path(found['libcudart.so.12']).resolve().parent, FOLDER / 'wheel/nvidia/cuda_runtime/lib')
        self.assertEqual(pathlib.Path(found['libtorch_cuda.so.2.6']).resolve().parent, FOLDER / 'wheel/torch/lib')


class CudaWorkerWithoutAGpu(unittest.TestCase):
    """CUDA's larger libraries are stubs: without a GPU, they are never called."""

    @classmethod
    def setUpClass(cls):
        cls.debian = Debian13(FOLDER / 'debian-13')
        home, wheel = cls.debian.root / 'cuda', FOLDER / 'wheel'
        shutil.rmtree(home, ignore_errors=True)
        shutil.copytree(wheel / 'torch/lib', home / 'torch/lib', symlinks=True, copy_function=os.link)
        shutil.copytree(wheel / 'nvidia/cuda_runtime/lib', home / 'nvidia/cuda_runtime/lib', symlinks=True)
        shutil.copytree(wheel / 'others', home / 'others', symlinks=True)
        (home / 'torch/bin').mkdir()
        shutil.copy(CudaWorker.worker, home / 'torch/bin')
        said(HERE / 'stub_cuda.py', home / 'others', *(wheel / 'torch/lib').glob('*.so.*.*.*'),
             *(wheel / 'others').glob('libgloo_cuda.so.*.*.*'))

    def inside(self, *words, **options):
        libraries = '/cuda/torch/lib:/cuda/nvidia/cuda_runtime/lib:/cuda/others'
        return self.debian.run(*words, environment={'LD_LIBRARY_PATH': libraries}, **options)

    def messages(self, **job):
        """Returns the worker's messages about a job at smoke scale."""
        job = {'type': 'job', 'id': '1', 'measure': {'scale': 'smoke', 'runs': 3}, **job}
        ended = self.inside('/cuda/torch/bin/torchwatch-worker', input=json.dumps(job) + '\n')
        self.assertIn('"hello"', ended.stdout, ended.stderr)
        return [json.loads(line) for line in ended.stdout.splitlines()]

    def test_measures_on_the_cpu(self):
        hello, *_, result = self.messages(benchmark='test_eval[resnet18-cpu-eager]')
        self.assertEqual(hello['devices'], ['cpu'])
        self.assertEqual(hello['pytorch_version'], '2.6.0')
        self.assertGreater(result['metrics']['latency']['value'], 0)

    def test_reports_the_drivers_reason_without_a_gpu(self):
        refusal = self.messages(benchmark='test_eval[resnet18-cuda-eager]')[-1]
        self.assertEqual(refusal['code'], 'device')
        self.assertRegex(refusal['text'], r'there is no GPU; CUDA reports: .*driver')

    def test_passes_the_workers_own_tests(self):
        """Runs all tests but those of every model; those of a GPU skip themselves."""
        build = self.debian.root / 'tests'  # the path is the same inside
        said('cmake', '-S', SOURCES, '-B', build, '-G', 'Ninja', '-DCMAKE_BUILD_TYPE=RelWithDebInfo',
             f'-DLibTorch_ROOT={FOLDER}/wheel/torch', '-DTORCHWATCH_WERROR=OFF', env=WITH_TOOLKIT)
        said('cmake', '--build', build, '--target', 'worker-tests')
        ended = self.inside(build / 'bin/worker-tests', '--gtest_filter=-Suite/*')
        said_last = ended.stderr[-10000:]  # workers keep standard output for messages
        self.assertEqual(ended.returncode, 0, said_last)
        self.assertRegex(said_last, r'\[  PASSED  \] [1-9][0-9]+ tests')
        self.assertIn('[  SKIPPED ] Measure.ReportsGpuMemoryAndTimeOnAGpu', said_last)


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    FOLDER.mkdir(parents=True, exist_ok=True)
    wheel = subprocess.run([HERE / 'make-cuda-wheel', FOLDER / 'wheel'], text=True, check=False, stdout=subprocess.PIPE)
    if wheel.returncode != 0:
        print(wheel.stdout, end='')
        sys.exit(wheel.returncode)
    unittest.main(argv=sys.argv[:1], verbosity=2)
