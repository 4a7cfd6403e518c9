#!/usr/bin/env python3
"""Fails when a folder includes what it may not. The two tables are the architecture.

usage: check_layers.py ROOT      exit status 1 when something is out of place
"""
import pathlib
import re
import sys

# folder -> project folders it may include, besides itself
MAY_INCLUDE = {
    'storage/domain': set(),
    'config': {'storage/domain'},
    'storage': {'storage/domain', 'config'},
    'bisect': {'storage/domain', 'config'},
    'github': {'storage/domain', 'config'},
    'runner': {'storage/domain', 'config'},
    'daemon': {'storage/domain', 'config', 'storage', 'bisect', 'github', 'runner'},
}
# header prefix -> the only paths that may include it
QUARANTINE = {
    'sqlite3.h': ('storage/',),
    'SQLiteCpp/': ('storage/',),
    'git2': ('bisect/git_history.cpp',),
    'torch/': ('runner/suite/', 'runner/worker/'),
    'ATen/': ('runner/suite/', 'runner/worker/'),
    'c10/': ('runner/suite/', 'runner/worker/'),
    'runner/suite/': ('runner/suite/', 'runner/worker/'),
    'boost/beast': ('daemon/net/',),
    'boost/asio': ('daemon/', 'github/', 'runner/'),
    'CLI/': ('daemon/main.cpp', 'daemon/command_line'),
    'spdlog/': ('daemon/',),
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)


def folder_of(path):
    return 'storage/domain' if path.startswith('storage/domain/') else path.split('/')[0]


def main(root):
    errors = []
    for file in sorted(p for p in root.rglob('*') if p.suffix in {'.h', '.cpp'}):
        name = file.relative_to(root).as_posix()
        folder = folder_of(name)
        if folder not in MAY_INCLUDE:
            continue
        for header in INCLUDE.findall(file.read_text(encoding='utf-8')):
            target = folder_of(header)
            if target in MAY_INCLUDE and target != folder and target not in MAY_INCLUDE[folder]:
                errors.append(f'{name}: {folder}/ may not include {header}')
            for prefix, homes in QUARANTINE.items():
                if header.startswith(prefix) and not name.startswith(homes):
                    errors.append(f'{name}: <{header}> belongs in {", ".join(homes)}')
    print('\n'.join(errors))
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
