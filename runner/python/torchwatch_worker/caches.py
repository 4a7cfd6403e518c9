"""The place of Inductor's cache.

Inductor takes locks in its cache, so it cannot use a read-only one, which is copied. Precompiled headers lie where
Inductor keeps its cache by default, and ignore TORCHINDUCTOR_CACHE_DIR. So that place becomes the cache, too.
"""
import getpass
import os
import shutil
import tempfile

VARIABLE = 'TORCHINDUCTOR_CACHE_DIR'
FOLDERS_OF_GRAPHS = ('fxgraph', 'aotautograd')


def default_place():
    """Returns where Inductor keeps its cache when the variable is not set."""
    return os.path.join(tempfile.gettempdir(), 'torchinductor_' + getpass.getuser())


def _bytes_in(folder):
    return sum(os.lstat(os.path.join(place, name)).st_size for place, _, names in os.walk(folder) for name in names)


def _is_of_runner(folder):
    """True for a private cache that the runner made: only its folders are called like their variable."""
    return os.path.basename(folder) == VARIABLE


def take_over():
    """Makes the default place a link to the cache that the runner made. Copies a read-only cache there. Returns the
    copied bytes. Call it before torch is imported."""
    kept = os.environ.get(VARIABLE, '')
    place = default_place()
    if not os.path.isdir(kept):
        return 0
    if os.access(kept, os.W_OK):
        if _is_of_runner(kept) and not os.path.lexists(place):
            os.symlink(kept, place)
        return 0
    if os.path.exists(place):
        place = os.path.join(tempfile.mkdtemp(prefix='torchwatch-'), 'cache')
        os.environ[VARIABLE] = place
    else:
        del os.environ[VARIABLE]
    shutil.copytree(kept, place, symlinks=True)
    for folder, _, _ in os.walk(place):
        os.chmod(folder, 0o700)
    return _bytes_in(place)
