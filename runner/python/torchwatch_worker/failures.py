"""Errors of a job, and their codes in the protocol (as in runner/worker/failure.cpp)."""
import sys

ABOUT_PRECISION = ('not implemented for', 'expected scalar type', 'same dtype', 'to have the same type as',
                   'unsafe to autocast', 'without overflow', 'is no distribution', 'device-side assert triggered')
ABOUT_DEVICE = ('uncorrectable ECC error encountered', 'uncorrectable NVLink error detected',
                'is/are busy or unavailable', 'the launch timed out and was terminated', 'driver shutting down',
                'system not yet initialized', 'GPU is lost')
OUT_OF_MEMORY = ('CUDA out of memory', 'CUDA error: out of memory')
COMPILER_NEEDS = 'torch.compile needs g++ and the headers of Python for the CPU, and the package setuptools'
MISSING_OPERATOR = "Could not run '"
BUSY = 'is/are busy or unavailable'
LONGEST_TEXT = 1200


class Unsupported(Exception):
    """A job that this worker does not support. Another worker might. No other exception means that."""


class NoDevice(Exception):
    """A missing GPU, when PyTorch is built for CUDA. The host may have lost it."""


def _has_any(text, words):
    return any(word in text for word in words)


def _cause_of(problem):
    """Returns the error inside an error of the compiler."""
    return getattr(problem, 'inner_exception', None) or problem


def _is_out_of_memory(problem, text):
    torch = sys.modules.get('torch')
    kind = getattr(getattr(torch, 'cuda', None), 'OutOfMemoryError', ())
    return isinstance(problem, kind) or _has_any(text, OUT_OF_MEMORY)


def _is_unsupported(problem, text, job):
    """True for what PyTorch lacks for a precision other than fp32, and for operators that it lacks on a GPU."""
    if job.measure.precision != 'fp32' and _has_any(text, ABOUT_PRECISION):
        return True
    return '-cpu-' not in job.benchmark and isinstance(problem, NotImplementedError) and MISSING_OPERATOR in text


def _is_without_tools(problem):
    """True for an error of the compiler because this host has no C++ compiler or no package that it needs."""
    cause = _cause_of(problem)
    is_package = cause is not problem and isinstance(cause, ModuleNotFoundError)
    return is_package or type(cause).__name__ == 'InvalidCxxCompiler'


def _code_of(problem, text, job):
    if not isinstance(problem, RuntimeError):
        return 'failed'
    if _is_out_of_memory(problem, text):
        return 'device_memory'
    if _is_unsupported(problem, text, job):
        return 'unsupported'
    return 'device' if _has_any(text, ABOUT_DEVICE) else 'failed'


def _shorten(text):
    """Returns the text without its middle if it is long. A C++ compiler's error begins with its command."""
    half = LONGEST_TEXT // 2
    return text if len(text) <= LONGEST_TEXT else f'{text[:half]} ... {text[-half:]}'


def _text_of(problem):
    """Returns the error's text in one line, without PyTorch's backtrace, after its type if that is not RuntimeError."""
    text = str(problem).split('\nException raised from')[0].split('\nSet TORCH')[0]
    text = _shorten(' '.join(text.split()))
    return text if type(problem) is RuntimeError and text else f'{type(problem).__name__}: {text}'


def failure_of(job, problem):
    """Returns code and text of the failure of a job that threw `problem`. The code is

      "unsupported"    Unsupported, an operator that does not exist for the job's precision or device, or a compiler
                       without the tools that it needs
      "device_memory"  the device has too little free memory; other processes may use the rest
      "device"         the device failed by itself, is missing, or is busy
      "failed"         all others, also a NotImplementedError of the worker or of a model
    """
    if isinstance(problem, Unsupported):
        return 'unsupported', f'{job.benchmark}: {problem}'
    if isinstance(problem, NoDevice):
        return 'device', f'{job.benchmark}: there is no GPU; {problem}'
    if _is_without_tools(problem):
        return 'unsupported', f'{job.benchmark}: {_text_of(_cause_of(problem))}; {COMPILER_NEEDS}'
    problem = _cause_of(problem)
    code = _code_of(problem, str(problem), job)
    text = f'{job.benchmark}: {_text_of(problem)}'
    if code == 'unsupported':
        text += f' (precision {job.measure.precision})'
    if BUSY in text:
        text += '; its compute mode must be Default: two workers share it'
    return code, text
