"""Builds the package as PyTorch's setup.py does: with CMake in build/, whose options are variables."""
import os
import pathlib
import subprocess
import sys

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

SOURCE = pathlib.Path(__file__).resolve().parent
BUILD = SOURCE / 'build'
OTHERS = ('ATEN_NO_TEST', 'LIBKINETO_NOCUPTI', 'SELECTED', 'TORCH_CUDA_ARCH_LIST')


def options():
    """Yields the options for CMake."""
    yield f'-DCMAKE_INSTALL_PREFIX={SOURCE / "torch"}'
    yield f'-DPython_EXECUTABLE={sys.executable}'
    yield '-DBUILD_SHARED_LIBS=ON'
    for name, value in sorted(os.environ.items()):
        if name.startswith(('BUILD_', 'USE_', 'CMAKE_')) or name in OTHERS:
            yield f'-D{name}={value}'


class BuildWithCMake(build_py):
    def run(self):
        BUILD.mkdir(exist_ok=True)
        subprocess.run(['cmake', '-S', SOURCE, '-B', BUILD, '-G', 'Ninja', *options()], check=True)
        subprocess.run(['cmake', '--build', BUILD, '--target', 'install'], check=True)
        version = os.environ['PYTORCH_BUILD_VERSION']
        (SOURCE / 'torch/version.py').write_text(f"__version__ = '{version}'\n", encoding='utf-8')
        super().run()


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


setup(name='torch', version=os.environ['PYTORCH_BUILD_VERSION'], packages=['torch'],
      package_data={'torch': ['lib/*', 'include/torch/*']}, cmdclass={'build_py': BuildWithCMake},
      distclass=BinaryDistribution)
