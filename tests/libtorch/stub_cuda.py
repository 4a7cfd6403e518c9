#!/usr/bin/env python3
"""Makes stubs of CUDA's libraries, so that a LibTorch with CUDA can be loaded on a host without a GPU. Each function of
them fails with 1.

usage: stub_cuda.py DIRECTORY LIBRARY...    directory of the stubs; libraries to load
"""
import collections
import pathlib
import subprocess
import sys

STUBBED = {'libcublas.so.12', 'libcublasLt.so.12', 'libcudnn.so.9', 'libcufft.so.11', 'libcurand.so.10', 'libcusolver.so.11',
           'libcusparse.so.12', 'libnccl.so.2', 'libnvToolsExt.so.1'}
# These have no symbol versions
BY_PREFIX = {'nccl': 'libnccl.so.2', 'curand': 'libcurand.so.10'}


def wanted_of(library):
    """Returns pairs of a stubbed library and one of its symbols."""
    listed = subprocess.run(['nm', '--dynamic', '--undefined-only', library], stdout=subprocess.PIPE, text=True, check=True)
    for line in listed.stdout.splitlines():
        name, _, version = line.split()[-1].partition('@')
        owner = version or next((owner for prefix, owner in BY_PREFIX.items() if name.startswith(prefix)), '')
        if owner in STUBBED:
            yield owner, name


def make(folder, name, symbols):
    source, script = folder / f'{name}.c', folder / f'{name}.map'
    source.write_text(''.join(f'int {symbol}(void) {{ return 1; }}\n' for symbol in sorted(symbols)) or 'int nothing;\n')
    script.write_text(f'{name} {{ global: *; }};\n')
    versions = [] if name in BY_PREFIX.values() else [f'-Wl,--version-script={script}']
    subprocess.run(['cc', '-w', '-shared', '-fPIC', f'-Wl,-soname,{name}', *versions, '-o', folder / name, source],
                   check=True)
    source.unlink()
    script.unlink()


def main(folder, *libraries):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    symbols = collections.defaultdict(set)
    for library in libraries:
        for owner, name in wanted_of(library):
            symbols[owner].add(name)
    for name in STUBBED:
        make(folder, name, symbols[name])


main(*sys.argv[1:])
