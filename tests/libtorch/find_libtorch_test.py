#!/usr/bin/env python3
"""FindLibTorch and build-worker with fake LibTorches: a few headers, and libraries that call nothing.

usage: find_libtorch_test.py [-v] [TEST ...]
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
SOURCES = HERE.parent.parent
TORCH_H = 'torch/csrc/api/include/torch/torch.h'


def write(file, text):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding='utf-8')


def library(file, needs=(), code='', soname=None):
    """Makes a shared library that needs the files `needs`."""
    file.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(['c++', '-shared', '-fPIC', '-o', file, f'-Wl,-soname,{soname or file.name}', '-Wl,--no-as-needed',
                    '-x', 'c++', '-', '-x', 'none', *needs], input=code, text=True, check=True)
    return file


def headers(directory, version):
    """Makes the headers of CUDA's runtime: 12040 is 12.4."""
    write(directory / 'cuda_runtime_api.h', f'''#define CUDART_VERSION  {version}
#include "crt/host_defines.h"
int cudart();
''')


def compilers_headers(directory, version):
    write(directory / 'crt/host_defines.h', f'#define CRT {version}\n')
    write(directory / 'of_compilers.h', '')


def runtime(directory, name, version):
    return library(directory / name, code=f'int cudart() {{ return {version}; }}')


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.site = self.folder / 'site-packages'
        self.torch = self.site / 'torch'
        self.nvidia = self.site / 'nvidia'
        self.roots = []  # of toolkits

    def make_torch(self, abi=1):
        write(self.torch / 'include' / TORCH_H, 'int torch();\n')
        write(self.torch / 'share/cmake/Torch/TorchConfig.cmake',
              f'message(FATAL_ERROR "is only read")\nset(TORCH_CXX_FLAGS "-D_GLIBCXX_USE_CXX11_ABI={abi}")\n')
        write(self.torch / 'share/cmake/Caffe2/Caffe2Targets.cmake', r'''set_target_properties(torch_cpu PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "USE_DISTRIBUTED;USE_C10D_GLOO"
set_target_properties(torch_cpu_library PROPERTIES
  INTERFACE_COMPILE_DEFINITIONS "\$<TARGET_PROPERTY:torch_cpu,INTERFACE_COMPILE_DEFINITIONS>"
''')
        lib = self.torch / 'lib'
        c10 = library(lib / 'libc10.so')
        cpu = library(lib / 'libtorch_cpu.so', [c10])
        library(lib / 'libtorch.so', [cpu], 'int torch() { return 7; }')

    def make_cuda_torch(self, cudart):
        """Makes a LibTorch with CUDA, which needs this runtime and a driver that is missing here."""
        self.make_torch()
        lib = self.torch / 'lib'
        stub = library(self.folder / 'stub' / cudart)
        c10_cuda = library(lib / 'libc10_cuda.so', [lib / 'libc10.so', stub], 'int driver(); int c() { return driver(); }')
        library(lib / 'libtorch_cuda.so', [c10_cuda])

    def toolkit(self, name, version, libraries=True):
        root = self.folder / name
        headers(root / 'include', version)
        compilers_headers(root / 'include', version)
        if libraries:
            runtime(root / 'lib64', f'libcudart.so.{version // 1000}', version)
        self.roots.append(root)
        return root

    def environment(self):
        return {**os.environ, 'TORCHWATCH_CUDA_ROOTS': ':'.join(map(str, self.roots)), 'CCACHE_DISABLE': '1'}

    def run_program(self, *words):
        return subprocess.run([str(word) for word in words], env=self.environment(), text=True, check=False,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def configure(self, *options):
        return self.run_program('cmake', '-S', HERE / 'probe', '-B', self.folder / 'build', '-G', 'Ninja',
                                f'-DMODULES={SOURCES}/deploy/cmake', f'-DCMAKE_PREFIX_PATH={self.torch}', *options)

    def configured(self, *options):
        """Returns the output of FindLibTorch."""
        done = self.configure(*options)
        self.assertEqual(done.returncode, 0, done.stdout)
        lines = [line for line in done.stdout.splitlines() if line.startswith('-- LibTorch: ')]
        self.assertEqual(len(lines), 1, done.stdout)
        return lines[0]

    def refused(self):
        """Returns the one line with the reason."""
        done = self.configure()
        self.assertNotEqual(done.returncode, 0, done.stdout)
        lines = done.stdout.splitlines()
        return lines[next(i for i, line in enumerate(lines) if line.startswith('CMake Error')) + 1].strip()

    def built(self):
        for words in (('--build', self.folder / 'build'), ('--install', self.folder / 'build', '--prefix', self.torch)):
            done = self.run_program('cmake', *words)
            self.assertEqual(done.returncode, 0, done.stdout)

    def said(self):
        """Returns the output of the program that was installed with the LibTorch."""
        done = self.run_program(self.torch / 'bin/probe')
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout.strip()

    def move(self):
        """Moves all unpacked files, as the service does with a good build."""
        moved = self.folder / 'moved'
        self.site.rename(moved)
        self.torch = moved / 'torch'

    def needed(self):
        text = self.run_program('readelf', '--dynamic', '--wide', self.torch / 'bin/probe').stdout
        return [line.split('[')[1].rstrip(']') for line in text.splitlines() if '(NEEDED)' in line]


class LibTorch(Case):
    def test_has_one_cxx_library_with_its_worker_whatever_the_compiler_prefers(self):
        self.make_torch()
        self.configured('-DCMAKE_EXE_LINKER_FLAGS=-static-libstdc++')
        self.built()
        self.assertIn('libstdc++.so.6', self.needed())

    def test_for_cpus_needs_no_cuda(self):
        self.make_torch()
        self.assertEqual(self.configured(), f'-- LibTorch: {self.torch}')
        self.built()
        self.move()
        self.assertEqual(self.said(), 'ABI 1, distributed 1, torch 7')
        self.assertLessEqual({'libtorch.so', 'libtorch_cpu.so', 'libc10.so'}, set(self.needed()))

    def test_has_the_abi_of_its_configuration(self):
        self.make_torch(abi=0)
        self.configured()
        self.built()
        self.assertEqual(self.said(), 'ABI 0, distributed 1, torch 7')

    def test_is_found_where_python_says(self):
        self.make_torch()
        torch, self.torch = self.torch, self.torch / 'share/cmake'
        self.assertEqual(self.configured(), f'-- LibTorch: {torch}')

    def test_without_a_library_is_refused_in_a_line(self):
        self.make_torch()
        (self.torch / 'lib/libtorch_cpu.so').unlink()
        self.assertIn('but no libtorch_cpu.so in ', self.refused())

    def test_of_another_kind_of_gpu_is_for_cpus(self):
        self.make_torch()
        library(self.torch / 'lib/libtorch_hip.so')
        self.assertIn('is built without GPUs', self.configure().stdout)
        self.built()
        self.assertNotIn('libtorch_hip.so', self.needed())


class LibTorchWithCuda(Case):
    def test_12_is_compiled_with_the_wheels_next_to_it(self):
        self.make_cuda_torch('libcudart.so.12')
        headers(self.nvidia / 'cuda_runtime/include', 12040)
        runtime(self.nvidia / 'cuda_runtime/lib', 'libcudart.so.12', 12040)
        write(self.nvidia / 'cublas/include/cublas.h', '')
        self.toolkit('cuda-13.0', 13000)
        self.toolkit('cuda-12.6', 12060)
        found = self.configured()
        self.assertIn(f'CUDA 12.4 headers in {self.nvidia}/cuda_runtime/include', found)
        self.assertIn(f'of CUDA 12.6, {self.folder}/cuda-12.6/include/crt', found)
        self.built()
        self.move()
        self.assertEqual(self.said(), 'ABI 1, distributed 1, torch 7, headers 12040, crt 12060, runtime 12040')
        self.assertLessEqual({'libtorch_cuda.so', 'libc10_cuda.so', 'libcudart.so.12'}, set(self.needed()))

    def test_13_is_compiled_with_the_wheels_next_to_it(self):
        self.make_cuda_torch('libcudart.so.13')
        headers(self.nvidia / 'cu13/include', 13000)
        compilers_headers(self.nvidia / 'cu13/include', 13000)
        runtime(self.nvidia / 'cu13/lib', 'libcudart.so.13', 13000)
        self.assertIn(f'CUDA 13.0 headers in {self.nvidia}/cu13/include, ', self.configured())
        self.built()
        self.move()
        self.assertIn('headers 13000, crt 13000, runtime 13000', self.said())

    def test_takes_one_header_alone_from_another_version(self):
        self.make_cuda_torch('libcudart.so.12')
        headers(self.nvidia / 'cuda_runtime/include', 12080)
        runtime(self.nvidia / 'cuda_runtime/lib', 'libcudart.so.12', 12080)
        self.toolkit('cuda', 13000)
        self.configured()
        self.built()
        self.assertTrue(self.said().endswith('headers 12080, crt 13000, runtime 12080'), self.said())

    def test_is_compiled_with_a_toolkit_of_its_version(self):
        self.make_cuda_torch('libcudart.so.12')
        self.toolkit('cuda-13.0', 13000)
        root = self.toolkit('cuda-12.6', 12060)
        self.assertIn(f'CUDA 12.6 headers in {root}/include, {root}/lib64/libcudart.so.12', self.configured())
        self.built()
        self.move()
        self.assertIn('headers 12060, crt 12060, runtime 12060, all of the toolkit', self.said())

    def test_brings_its_own_runtime_in_an_archive(self):
        self.make_cuda_torch('libcudart-9335f6a2.so.12')
        runtime(self.torch / 'lib', 'libcudart-9335f6a2.so.12', 12010)
        self.toolkit('cuda-12.6', 12060)
        self.assertTrue(self.configured().endswith(f', {self.torch}/lib/libcudart-9335f6a2.so.12'))
        self.built()
        self.move()
        self.assertIn('headers 12060, crt 12060, runtime 12010', self.said())
        self.assertIn('libcudart-9335f6a2.so.12', self.needed())

    def test_of_before_12_has_a_runtime_with_two_numbers(self):
        self.make_cuda_torch('libcudart.so.11.0')
        root = self.toolkit('cuda-11.8', 11080, libraries=False)
        runtime(root / 'lib64', 'libcudart.so.11.0', 11080)
        self.assertIn('CUDA 11.8 headers in ', self.configured())

    def test_without_headers_of_its_version_names_what_is_missing(self):
        self.make_cuda_torch('libcudart.so.12')
        root = self.toolkit('cuda', 13000)
        self.assertEqual(self.refused(), 'missing on this host: cuda_runtime_api.h of CUDA 12, not in '
                         f'{self.nvidia}/*/include, {root} (CUDA 13.0); install a toolkit of CUDA 12 (Debian: nvidia-cuda-dev)')

    def test_without_any_headers_names_them_all(self):
        self.make_cuda_torch('libcudart.so.13')
        self.assertTrue(self.refused().startswith(
            'missing on this host: cuda_runtime_api.h and crt/host_defines.h of CUDA 13, not in '))

    def test_without_its_runtime_names_that(self):
        self.make_cuda_torch('libcudart.so.12')
        self.toolkit('cuda', 12060, libraries=False)
        self.assertTrue(self.refused().startswith('missing on this host: libcudart.so.12, not in '))


class BuildWorker(Case):
    def program(self, *words):
        return subprocess.run([SOURCES / 'deploy/build-worker', *words], env=self.environment(), text=True, check=False,
                              capture_output=True)

    def test_blames_the_host_for_headers_that_are_missing(self):
        self.make_cuda_torch('libcudart.so.12')
        done = self.program(self.torch, self.folder / 'work')
        self.assertEqual(done.returncode, 129, done.stdout)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertTrue(done.stderr.startswith('build-worker: missing on this host: cuda_runtime_api.h and '), done.stderr)

    def test_blames_the_build_for_a_library_that_is_missing(self):
        self.make_torch()
        (self.torch / 'lib/libc10.so').unlink()
        done = self.program(self.torch, self.folder / 'work')
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn('but no libc10.so in ', done.stderr)

    def test_compiles_against_no_other_build(self):
        self.make_torch()
        (self.torch / 'include' / TORCH_H).unlink()
        done = self.program(self.torch, self.folder / 'work')
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn(f'no include/{TORCH_H} in {self.folder}/work/prefix', done.stderr)

    def test_shows_compilers_the_folders_next_to_a_build_at_one_path(self):
        self.make_cuda_torch('libcudart.so.12')
        headers(self.nvidia / 'cuda_runtime/include', 12040)
        place = self.folder / 'work/nvidia'
        self.program(self.torch, self.folder / 'work')
        self.assertEqual(place.resolve(), self.nvidia.resolve())
        self.nvidia.rename(self.folder / 'elsewhere')
        self.program(self.torch, self.folder / 'work')
        self.assertFalse(place.is_symlink())

    def test_names_the_toolkits_of_a_host(self):
        self.assertTrue(self.program('--tools').stdout.endswith(', no CUDA headers\n'))
        without = self.program('--dependencies').stdout
        self.assertNotIn('CUDA', without)
        first = self.toolkit('cuda-13.0', 13000, libraries=False)
        second = self.toolkit('cuda-12.6', 12060, libraries=False)
        named = f'CUDA 13.0 headers in {first}, CUDA 12.6 headers in {second}\n'
        self.assertTrue(self.program('--tools').stdout.endswith(f', {named}'))
        self.assertIn(f'\n{named}', self.program('--dependencies').stdout)


if __name__ == '__main__':
    unittest.main()
