#!/usr/bin/env python3
"""Has torchwatch check three nightlies of a trunk under torch.compile. The last one fuses nothing.

usage: check_nights.py DIRECTORY MODEL_FILES     DIRECTORY: a new one

Prints JSON: the commit that fuses nothing, and what `torchwatch check --json` printed for each nightly.
"""
import json
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
IDENTITY = {'GIT_CONFIG_GLOBAL': '/dev/null', 'GIT_CONFIG_SYSTEM': '/dev/null',
            **{f'GIT_{role}_{part}': text for role in ('AUTHOR', 'COMMITTER')
               for part, text in (('NAME', 'A'), ('EMAIL', 'a@example.invalid'), ('DATE', '2026-11-20T12:00:00Z'))}}


class Trunk:
    """A git repository with a branch of nightlies."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)
        self._git('init', '-q', '-b', 'main')
        self._release = None

    def _git(self, *words):
        return subprocess.run(['git', *words], cwd=self.folder, env={**os.environ, **IDENTITY}, check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()

    def commit(self, subject, module=''):
        """Returns the new commit. `module` is what each process imports when it starts."""
        (self.folder / 'sitecustomize.py').write_text(module)
        (self.folder / 'log').write_text(subject)
        self._git('add', '-A')
        self._git('commit', '-q', '-m', subject)
        return self._git('rev-parse', 'HEAD')

    def release(self, date):
        """Adds a nightly of the newest commit."""
        parent = ['-p', self._release] if self._release else []
        self._release = self._git('commit-tree', *parent, 'HEAD^{tree}', '-m',
                                  f'{date} nightly release ({self._git("rev-parse", "HEAD")})')
        self._git('update-ref', 'refs/heads/nightly', self._release)


def configure(folder, model_files):
    """Writes a configuration, and returns its path."""
    exact = {'kind': 'exact'}
    suite = {'name': 'compiled', 'worker': '/usr/bin/torchwatch-python-worker', 'needs': 'python',
             'files': model_files, 'models': ['fusable'], 'tests': ['eval'], 'backends': ['eager', 'inductor'],
             'scale': 'smoke', 'caches': ['TORCHINDUCTOR_CACHE_DIR'],
             'metrics': {'latency': {'unit': 'ms'}, 'cmem': {'unit': 'bytes', **exact},
                         'graph_breaks': {'unit': '1', **exact}, 'kernels': {'unit': '1', **exact}}}
    path = folder / 'torchwatch.json'
    path.write_text(json.dumps({
        'state_dir': 'state', 'feed': {'kind': 'git', 'path': 'trunk', 'stale_days': 0},
        'source': {'repository': 'trunk', 'recipe': str(HERE / 'recipe'), 'readable': [str(HERE)]},
        'suites': [suite], 'fleets': [{'name': 'local', 'suites': ['compiled']}], 'http': {'port': 0},
        'decide': {'aa_benchmarks': 0}}))
    return path


def check(path):
    """Returns what `torchwatch check` found."""
    ended = subprocess.run(['torchwatch', '--config', path, 'check', '--json'], text=True, check=False,
                           capture_output=True)
    if ended.returncode not in (0, 1):
        sys.exit(f'torchwatch check: exit status {ended.returncode}: {ended.stderr[-10000:]}')
    return json.loads(ended.stdout)


def main(folder, model_files):
    folder = pathlib.Path(folder)
    trunk = Trunk(folder / 'trunk')
    path = configure(folder, model_files)
    trunk.commit('Start')
    trunk.release('2026-11-23')
    found = [check(path)]
    trunk.commit('Docs')
    trunk.release('2026-11-24')
    found.append(check(path))
    trunk.commit('Comments')
    culprit = trunk.commit('Fuse by cost', (HERE / 'unfused.py').read_text())
    (folder / 'trunk/README').write_text('A trunk\n')
    trunk.commit('Readme', (HERE / 'unfused.py').read_text())
    trunk.release('2026-11-25')
    print(json.dumps({'culprit': culprit, 'nightlies': [*found, check(path)]}))


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
