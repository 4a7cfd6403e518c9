#!/usr/bin/env python3
"""Fails when a folder includes a header that these tables forbid. The tables define the architecture.

usage: check_layers.py ROOT      exit status 1 when an include is forbidden
"""
import sys

sys.dont_write_bytecode = True  # no __pycache__ next to the sources
import includes  # noqa: E402

# part -> other parts it may include
MAY_INCLUDE = {
    'storage/base': set(),
    'storage/domain': {'storage/base'},
    'config': {'storage/base', 'storage/domain'},
    'http': {'storage/base'},
    'storage': {'storage/base', 'storage/domain', 'config'},
    'bisect': {'storage/base', 'storage/domain', 'config'},
    'github': {'storage/base', 'storage/domain', 'config', 'http'},
    'runner': {'storage/base', 'storage/domain', 'config'},
    'fetch': {'storage/base', 'storage/domain', 'http'},
    'daemon': {'storage/base', 'storage/domain', 'config', 'http', 'storage', 'bisect', 'github', 'runner', 'fetch'},
}
# part with folders -> folder, or file next to the folders -> other folders it may include
ROOMS_MAY_INCLUDE = {
    'bisect': {
        'compare': set(),
        'git': set(),
        'search': {'compare', 'git'},
    },
    'daemon': {
        'async': set(),
        'metrics': set(),
        'http': {'async'},
        'web': set(),
        'measure': {'async', 'metrics'},
        'suite_try': {'measure'},
        'builds': {'measure', 'async'},
        'feed': {'builds'},
        'report': {'http', 'async'},
        'bisection': {'builds', 'measure', 'async'},
        'nightly': {'feed', 'bisection', 'builds', 'measure', 'report', 'async'},
        'api': {'http', 'web', 'report', 'builds', 'metrics'},
        'service': {'api', 'nightly', 'feed', 'bisection', 'report', 'builds', 'measure', 'http', 'metrics', 'async'},
        'setup': {'service', 'feed', 'report', 'builds', 'measure', 'http', 'async'},
        'cli': {'setup', 'service', 'api', 'http', 'report', 'nightly', 'bisection', 'builds', 'suite_try', 'measure', 'async'},
        'main.cpp': {'cli'},
    },
}
# header prefix -> the only paths that may include it
QUARANTINE = {
    'sqlite3.h': ('storage/',),
    'SQLiteCpp/': ('storage/',),
    'git2': ('bisect/git/history.cpp',),
    'torch/': ('runner/suite/', 'runner/worker/'),
    'ATen/': ('runner/suite/', 'runner/worker/'),
    'c10/': ('runner/suite/', 'runner/worker/'),
    'runner/suite/': ('runner/suite/', 'runner/worker/'),
    'boost/beast': ('daemon/http/',),
    'boost/asio': ('daemon/', 'github/', 'runner/'),
    'curl/': ('http/',),
    'archive': ('fetch/',),
    'libxml/': ('fetch/',),
    'CLI/': ('daemon/main.cpp', 'daemon/cli/'),
    'prometheus/': ('daemon/metrics/', 'daemon/api/metrics.cpp'),
    'cmark-gfm': ('daemon/web/', 'github/commands.cpp'),
    'spdlog/': ('daemon/',),
}


def misplaced(name, header, folder_of, table, prefix=''):
    """Returns the reason why `table` forbids this include, or None."""
    folder, target = folder_of(name), folder_of(header)
    if folder is None or target in (None, folder):
        return None
    if folder not in table or target not in table:
        return None  # unlisted_rooms reports the unlisted folder
    return None if target in table[folder] else f'{name}: {prefix}{folder} may not include {header}'


def unlisted_rooms(name):
    for part, table in ROOMS_MAY_INCLUDE.items():
        room = includes.room_in(part)(name)
        if room is not None and room not in table:
            yield f'{name}: {part}/{room} is not in the table of what folders of {part}/ may include'


def errors_in(sources):
    for name, headers in sources:
        yield from unlisted_rooms(name)
        for header in headers:
            yield misplaced(name, header, includes.part_of, MAY_INCLUDE)
            for part, table in ROOMS_MAY_INCLUDE.items():
                yield misplaced(name, header, includes.room_in(part), table, part + '/')
            for prefix, homes in QUARANTINE.items():
                if header.startswith(prefix) and not name.startswith(homes):
                    yield f'{name}: <{header}> belongs in {", ".join(homes)}'


def main(arguments):
    if len(arguments) != 1:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    errors = list(filter(None, errors_in(includes.sources_in(arguments[0]))))
    print(*errors, sep='\n', end='\n' if errors else '')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
