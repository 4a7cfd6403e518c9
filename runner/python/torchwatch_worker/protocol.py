"""The messages of runner/protocol.h that a worker reads and writes, as dataclasses and dictionaries."""
import dataclasses
import json
import re

VERSION = 5
MAX_LINE_BYTES = 8 * 1024 * 1024
MAX_DEPTH = 16
MAX_TEXT_BYTES = 4096
BENCHMARK = re.compile(r'test_([a-z0-9_]+)\[([^-\[\]]+)-([^-\[\]]+)-([^-\[\]]+)\]')


class ProtocolError(Exception):
    """A line that is not a message, or not one that a worker reads."""


@dataclasses.dataclass(frozen=True)
class Measure:
    """Options of a measurement, as in protocol.h. Units are in the names."""
    runs: int = 10
    warmup: int = 3
    min_run_ms: float = 20.0
    threads: int = 1
    leak_iterations: int = 20
    seed: int = 1337
    scale: str = 'full'
    precision: str = 'fp32'
    tf32: str = 'default'
    batch: int = 0
    models: str = ''
    profile: bool = False


@dataclasses.dataclass(frozen=True)
class Job:
    """The request to measure one benchmark. `prefix` is the directory of the build; empty: the system's PyTorch.
    `metrics` names what the answer must contain; empty: the native four. `is_filling`: the job fills its compile
    caches, which are empty."""
    id: str
    benchmark: str
    measure: Measure = Measure()
    metrics: tuple = ()
    takes_turns: bool = False
    prefix: str = ''
    is_filling: bool = False


def _check_type(name, value, default):
    """Returns the value in the type of its default."""
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if type(value) is not type(default):
        raise ProtocolError(f'{name}: expected {type(default).__name__}, found {json.dumps(value)[:100]}')
    return value


def _measure_of(found):
    values = {}
    for field in dataclasses.fields(Measure):
        if field.name in found:
            values[field.name] = _check_type(f'measure.{field.name}', found[field.name], field.default)
    return Measure(**values)


def _text_of(message, name):
    if name not in message:
        raise ProtocolError(f'a job without {name}')
    return _check_type(name, message[name], '')


def _job_of(message):
    metrics = _check_type('metrics', message.get('metrics', []), [])
    build = _check_type('build', message.get('build', {}), {})
    caches = _check_type('caches', message.get('caches', {}), {})
    return Job(id=_text_of(message, 'id'), benchmark=_text_of(message, 'benchmark'),
               measure=_measure_of(_check_type('measure', message.get('measure', {}), {})),
               metrics=tuple(_check_type('metrics', name, '') for name in metrics),
               takes_turns=_check_type('takes_turns', message.get('takes_turns', False), False),
               prefix=_check_type('build.prefix', build.get('prefix', ''), ''),
               is_filling=_check_type('caches.is_filling', caches.get('is_filling', False), False))


def _depth_of(value):
    deepest, level = 0, [value]
    while level:
        deepest += 1
        inner = [one for one in level if isinstance(one, (dict, list))]
        level = [child for one in inner for child in (one.values() if isinstance(one, dict) else one)]
    return deepest


def _object_of(line):
    try:
        message = json.loads(line)
    except (ValueError, RecursionError) as problem:
        raise ProtocolError(f'a line that is not JSON: {problem}') from None
    if not isinstance(message, dict):
        raise ProtocolError('a line that is not an object')
    if _depth_of(message) > MAX_DEPTH + 1:
        raise ProtocolError(f'more than {MAX_DEPTH} levels')
    return message


def decode_job(line):
    """Returns the job in the line. Throws ProtocolError."""
    message = _object_of(line)
    if message.get('type') != 'job':
        raise ProtocolError('a worker reads jobs, found another message')
    return _job_of(message)


def is_turn(line):
    """True when the line is a turn. Throws ProtocolError when it is not a message."""
    return _object_of(line).get('type') == 'turn'


def cut(text):
    """Returns the text with at most MAX_TEXT_BYTES bytes of UTF-8."""
    return text.encode('utf-8', 'replace')[:MAX_TEXT_BYTES].decode('utf-8', 'ignore')


def error(job_id, code, text):
    """The message of a failed job, or of a line that is not a job when the id is empty."""
    return {'type': 'error', 'id': job_id, 'code': code, 'text': cut(text)}
