"""Stands in for PyTorch's package: calls the library next to it."""
import ctypes
import pathlib

from .version import __version__  # noqa: F401

_library = ctypes.CDLL(str(pathlib.Path(__file__).parent / 'lib' / 'libtorch.so'))


def answer():
    """Returns what the worker prints after the version."""
    return (_library._Z3addii(2, 3), _library._Z8multiplyii(2, 3), _library._Z9operatorsv(), _library._Z4partv())
