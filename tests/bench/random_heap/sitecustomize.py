"""Gives each process that has this folder in PYTHONPATH another heap.

Which freed block an operator's output reuses depends on all allocations before it, and moves the time of a step by 1 to
2%. Random blocks turn that difference between two programs into noise (Curtsinger and Berger, Stabilizer, 2013).
"""
import ctypes
import random

BLOCKS, LARGEST = 12, 1 << 20

_libc = ctypes.CDLL(None)
_libc.malloc.restype = ctypes.c_void_p
for _block in [_libc.malloc(random.randrange(LARGEST)) for _ in range(BLOCKS)]:
    if random.random() < 0.5:
        _libc.free(ctypes.c_void_p(_block))
