#!/usr/bin/env python3
"""Runs the examples of README.md and docs/*.md, and fails when one is wrong.

usage: pages.py --bin DIR [--source DIR] [PAGE ...]    no page: README.md and docs/*.md
       pages.py --bin DIR --help-texts                 the examples of `torchwatch COMMAND --help`

--bin is the directory of the built programs; --source is the repository (default: two folders up).

Each fenced block of a page has a kind:

| kind | check |
| --- | --- |
| console | every command (`$ ...`) runs, in the order of the page |
| json | part of a configuration: `torchwatch config check --offline` accepts it |
| text | none: output, a drawing |

A block of any other kind is an error. A comment on the line before a block changes how it is checked:

| comment | effect |
| --- | --- |
| `<!-- not run: REASON -->` | the block is not checked; the reason is listed at the end |
| `<!-- in an empty directory -->` | its commands run in a new directory without a configuration |

Each page has a sandbox: a new directory with torchwatch.json, the scripted history `one-culprit`
that `torchwatch check` has judged, and the file `token`. When a command names port 8917, a service
is running there (in fact at a free port). `torchwatch serve` starts that service.

Lines below a command are what it prints to standard output, or to standard error if that is all.
They are compared as follows:

- `...` matches any text; a line `...` matches any number of lines.
- Numbers with a decimal point or in ms, commits and times of day match any other of their kind.
- Spaces in a row count as one.

A command without lines below it must exit with status 0. Help texts are checked like pages: each
starts with a sentence and ends with an example. Exit status 1 when something is wrong.
"""
import argparse
import dataclasses
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

KINDS = ('console', 'json', 'text')
FENCE = re.compile(r'( *)```(\S*)\s*$')
NOT_RUN = re.compile(r'<!-- not run: (.*\S) -->$')
EMPTY = '<!-- in an empty directory -->'
PORT = ':8917'
SCENARIO = 'one-culprit'
LIMIT_S = 120
# the configuration to which a json block adds
SMALLEST = {'state_dir': 'state', 'feed': {'path': 'nightlies'}}
# what differs from run to run -> its name while lines are compared
VARYING = [
    (re.compile(r'\b\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?Z?'), 'TIME'),
    (re.compile(r'\b([\w.]+\+git)?(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b'), 'COMMIT'),
    (re.compile(r'[-+]?\b\d+(\.\d+\b(?!\.)|(?= ms\b))'), 'NUMBER'),
    (re.compile(r'\s+'), ' '),
]


# commands whose example is not run -> the reason
HELP_NOT_RUN = {
    'builds pin': 'names a build of another history',
    'builds unpin': 'names a build of another history',
    'builds remove': 'names a build of another history',
    'suite try': 'names a suite of another configuration',
}


class Wrong(Exception):
    """An example that is wrong: the line, and the reason."""

    def __init__(self, line, reason):
        super().__init__(reason)
        self.line = line


@dataclasses.dataclass
class Command:
    """A command of a console block, with the lines that the page shows below it."""
    line: int
    text: str
    shown: list


@dataclasses.dataclass
class Block:
    """A fenced block; `line` is that of its first line of content."""
    line: int
    kind: str
    content: str
    not_run: str = ''
    in_empty: bool = False


def blocks_in(text):
    """Returns the blocks of a page. Raises Wrong for a block of an unknown kind or without an end."""
    lines = text.split('\n')
    blocks, at = [], 0
    while at < len(lines):
        opened = FENCE.match(lines[at])
        at += 1
        if not opened:
            continue
        indent, kind = opened.groups()
        before = lines[at - 2].strip() if at > 1 else ''
        first = at
        while at < len(lines) and lines[at].strip() != '```':
            at += 1
        if at == len(lines):
            raise Wrong(first, 'the block has no end')
        if kind not in KINDS:
            raise Wrong(first, f'found a block of kind "{kind}", allowed are {", ".join(KINDS)}')
        content = '\n'.join(line.removeprefix(indent) for line in lines[first:at])
        marked = NOT_RUN.match(before)
        blocks.append(Block(first + 1, kind, content, marked.group(1) if marked else '', before == EMPTY))
        at += 1
    return blocks


def is_whole(command):
    if command.endswith('\\'):
        return False
    try:
        shlex.split(command, comments=True)
    except ValueError:
        return False
    return True


def commands_in(block):
    """Returns the commands of a console block. Raises Wrong where it does not start with one."""
    commands = []
    for line, text in enumerate(block.content.split('\n'), block.line):
        if commands and not is_whole(commands[-1].text):
            commands[-1].text += '\n' + text
        elif text.startswith('$ '):
            commands.append(Command(line, text[2:], []))
        elif commands:
            commands[-1].shown.append(text)
        else:
            raise Wrong(line, 'a console block starts with a command: "$ ..."')
    for command in commands:
        while command.shown and not command.shown[-1].strip():
            command.shown.pop()
    return commands


def plain(line):
    for pattern, name in VARYING:
        line = pattern.sub(name, line)
    return line.strip()


def matches(shown, printed):
    """True when the printed line is the one that is shown."""
    parts = [plain(part) for part in shown.split('...')]
    expression = r'\s*.*\s*'.join(re.escape(part) for part in parts)
    return re.fullmatch(expression, plain(printed)) is not None


def first_difference(shown, printed):
    """Returns the index of the first shown line that was not printed; None when all were."""
    at = 0
    skips = False
    for index, line in enumerate(shown):
        if line.strip() == '...':
            skips = True
            continue
        while skips and at < len(printed) and not matches(line, printed[at]):
            at += 1
        if at == len(printed) or not matches(line, printed[at]):
            return index
        at += 1
        skips = False
    return None if skips or at == len(printed) else len(shown)


def check_output(command, status, printed):
    lines = printed.rstrip('\n').split('\n') if printed.strip() else []
    if not command.shown:
        if status != 0:
            raise Wrong(command.line, f'exit status {status}, expected 0; printed:\n{printed}')
        return
    index = first_difference(command.shown, lines)
    if index is None:
        return
    expected = f'"{command.shown[index]}"' if index < len(command.shown) else 'nothing more'
    raise Wrong(command.line + command.text.count('\n') + 1 + index, f'expected {expected}; printed:\n{printed}')


class Lab:
    """The directory of the sandboxes, and what each of them starts with."""

    def __init__(self, bin_folder, source):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix='torchwatch-docs-'))
        self.sandbox = self.folder / 'sandbox'  # always the same path: the database has absolute paths
        self.master = self.folder / 'master'
        self.bin = bin_folder
        self.environment = {**os.environ, 'PATH': f'{bin_folder}:{os.environ["PATH"]}',
                            'TORCHWATCH_CONFIG': str(self.sandbox / 'torchwatch.json')}
        self.generate(source / 'tests/lab/scenarios' / f'{SCENARIO}.json')
        self.configure()
        checked = subprocess.run([bin_folder / 'torchwatch', 'check'], env=self.environment,
                                 capture_output=True, text=True)
        if checked.returncode != 1:
            raise RuntimeError(f'torchwatch check: exit status {checked.returncode}\n{checked.stderr}')
        self.sandbox.rename(self.master)

    def generate(self, scenario):
        subprocess.run([self.bin / 'torchwatch-lab', 'generate', '--scripted', '--worker',
                        self.bin / 'scripted-worker', '--scenario', scenario, '--out', self.sandbox],
                       check=True, capture_output=True)

    def configure(self):
        token = self.sandbox / 'token'
        token.write_text('token-of-a-service\n')
        token.chmod(0o600)
        (self.sandbox / 'pytorch.git').symlink_to('repository')
        (self.sandbox / 'nightlies').mkdir()
        file = self.sandbox / 'torchwatch.json'
        settings = {**json.loads(file.read_text()), 'http': {'port': 0, 'token_file': 'token'}}
        file.write_text(json.dumps(settings, indent=2))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder, ignore_errors=True)


class Sandbox:
    """The directory in which the commands of one page run, with a service when they need one."""

    def __init__(self, lab):
        shutil.copytree(lab.master, lab.sandbox, symlinks=True)
        self.folder = lab.sandbox
        self.bin = lab.bin
        self.environment = lab.environment
        self.service = None
        self.port = ''

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.service:
            self.service.send_signal(signal.SIGTERM)
            self.service.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start_service(self):
        if self.service:
            return
        log = self.folder / 'service.log'
        with open(log, 'wb') as output:
            self.service = subprocess.Popen([self.bin / 'torchwatch', 'serve'], env=self.environment,
                                            cwd=self.folder, stdout=output, stderr=output)
        until = time.monotonic() + LIMIT_S
        while time.monotonic() < until and self.service.poll() is None:
            listening = re.search(r'http_listening url=\S+:(\d+)', log.read_text())
            if listening:
                self.port = f':{listening.group(1)}'
                return
            time.sleep(0.05)
        raise RuntimeError(f'torchwatch serve does not listen:\n{log.read_text()}')

    def run(self, command, folder):
        """Runs a command, and raises Wrong when it does not print what the page shows."""
        if re.search(r'\btorchwatch\b[^|;]* serve\b', command.text):
            self.start_service()
            return
        text = command.text
        if PORT in text:
            self.start_service()
            text = text.replace(PORT, self.port)
        try:
            done = subprocess.run(['bash', '-c', text], cwd=folder, env=self.environment, stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, timeout=LIMIT_S)
        except subprocess.TimeoutExpired as problem:
            raise Wrong(command.line, f'runs longer than {LIMIT_S} s') from problem
        printed = done.stdout or done.stderr
        printed = printed.replace(self.port, PORT) if self.port else printed
        check_output(command, done.returncode, printed.replace(f'{self.folder}/', ''))

    def run_console(self, block):
        folder = self.folder
        if block.in_empty:
            folder = self.folder / f'empty-{block.line}'
            folder.mkdir()
        for command in commands_in(block):
            self.run(command, folder)

    def check_json(self, block):
        content = block.content.strip()
        try:
            part = json.loads(content if content.startswith('{') else '{' + content + '}')
        except json.JSONDecodeError as problem:
            raise Wrong(block.line + problem.lineno - 1, f'not JSON: {problem.msg}') from problem
        file = self.folder / 'block.json'
        file.write_text(json.dumps({**SMALLEST, **part}, indent=2))
        checked = subprocess.run([self.bin / 'torchwatch', 'config', 'check', '--offline', file],
                                 env=self.environment, capture_output=True, text=True)
        if checked.returncode != 0:
            raise Wrong(block.line, checked.stderr.strip())


def check_page(page, text, make_sandbox):
    """Checks the blocks of a page. Returns (failures, blocks that were not run), each as lines."""
    try:
        blocks = blocks_in(text)
    except Wrong as wrong:
        return [f'{page}:{wrong.line}: {wrong}'], []
    failures = []
    not_run = [f'{page}:{block.line}: {block.not_run}' for block in blocks if block.not_run]
    left = [block for block in blocks if not block.not_run and block.kind != 'text']
    if not left:
        return failures, not_run
    with make_sandbox() as sandbox:
        for block in left:
            try:
                if block.kind == 'console':
                    sandbox.run_console(block)
                else:
                    sandbox.check_json(block)
            except Wrong as wrong:
                failures.append(f'{page}:{wrong.line}: {wrong}')
    return failures, not_run


def commands_of(program, command=()):
    """Returns torchwatch and all its subcommands, each with its help text."""
    done = subprocess.run([program, *command, '--help'], check=True, capture_output=True, text=True)
    found = {' '.join(command): done.stdout}
    _, _, listed = done.stdout.partition('\nSubcommands:\n')
    for name in re.findall(r'^  (\w+)', listed.split('\n\n')[0], re.MULTILINE):
        found.update(commands_of(program, (*command, name)))
    return found


def page_of_help(command, text):
    """Returns the page whose only block is the example of a help text, at the line where it stands."""
    lines = text.split('\n')
    if not re.match(r'[A-Z].*\.( |$)', lines[0]):
        raise Wrong(1, f'found "{lines[0]}", expected a sentence')
    if 'Example:' not in lines:
        raise Wrong(len(lines), 'found no "Example:"')
    at = lines.index('Example:')
    mark = f'<!-- not run: {HELP_NOT_RUN[command]} -->' if command in HELP_NOT_RUN else ''
    example = [line.removeprefix('  ') for line in lines[at + 1:] if line.strip()]
    return '\n'.join([*[''] * (at - 1), mark, '```console', *example, '```'])


def help_pages(program):
    """Returns the pages of all help texts, by name; with the failures of those without an example."""
    pages, failures = {}, []
    for command, text in commands_of(program).items():
        name = f'torchwatch {command} --help'.replace('  ', ' ')
        try:
            pages[name] = page_of_help(command, text)
        except Wrong as wrong:
            failures.append(f'{name}:{wrong.line}: {wrong}')
    return pages, failures


def main():
    options = argparse.ArgumentParser(usage=__doc__, add_help=False)
    options.add_argument('--bin', type=pathlib.Path, required=True)
    options.add_argument('--source', type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2])
    options.add_argument('--help-texts', action='store_true')
    options.add_argument('pages', nargs='*')
    given = options.parse_args()
    bin_folder = given.bin.resolve()
    source = given.source.resolve()
    failures, not_run = [], []
    if given.help_texts:
        pages, failures = help_pages(bin_folder / 'torchwatch')
    else:
        names = given.pages or ['README.md', *sorted(str(page.relative_to(source)) for page in source.glob('docs/*.md'))]
        pages = {name: (source / name).read_text() for name in names}
    with Lab(bin_folder, source) as lab:
        for page, text in pages.items():
            begun = time.monotonic()
            wrong, skipped = check_page(page, text, lambda: Sandbox(lab))
            failures += wrong
            not_run += skipped
            print(f'{page}: {"wrong" if wrong else "good"} ({time.monotonic() - begun:.1f} s)', flush=True)
    print('\nnot run:', *(not_run or ['nothing']), sep='\n  ')
    if failures:
        print('\nwrong:', *failures, sep='\n')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main())
