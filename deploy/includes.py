"""Reads which headers the sources of each folder of the project include."""
import collections
import pathlib
import re

PARTS = ('config', 'http', 'storage', 'bisect', 'github', 'fetch', 'runner', 'daemon')
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)


def sources_in(root):
    """Yields each source of the parts below `root` with the headers that it includes, by name."""
    root = pathlib.Path(root)
    for part in PARTS:
        for file in sorted(p for p in (root / part).rglob('*') if p.suffix in {'.h', '.cpp'}):
            yield file.relative_to(root).as_posix(), INCLUDE.findall(file.read_text(encoding='utf-8'))


def part_of(path):
    """Returns the part of a file, or None for a header of another project."""
    for folder in ('storage/base', 'storage/domain'):
        if path.startswith(folder + '/'):
            return folder
    part = path.split('/')[0]
    return part if part in PARTS and '/' in path else None


def room_in(part):
    """Returns a function from a file to its folder in `part`, or its own name directly in `part`, or None outside."""
    return lambda path: path.split('/')[1] if path.startswith(part + '/') else None


def arrows_between(sources, folder_of):
    """Counts the includes from one folder to another: {(from, to): includes}."""
    arrows = collections.Counter()
    for name, headers in sources:
        for header in headers:
            pair = folder_of(name), folder_of(header)
            if None not in pair and pair[0] != pair[1]:
                arrows[pair] += 1
    return arrows
