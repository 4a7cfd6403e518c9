"""Messages, statistics and errors, without PyTorch."""
import json
import os
import unittest

import worker  # noqa: F401  (finds the sources)
from torchwatch_worker import failures, metrics, protocol, samples, turns, wire
from torchwatch_worker.protocol import Job, Measure, ProtocolError

LINE = {'type': 'job', 'id': 'a', 'benchmark': 'test_eval[m-cpu-eager]'}


def decode(**fields):
    return protocol.decode_job(json.dumps({**LINE, **fields}))


class Jobs(unittest.TestCase):
    def test_of_only_the_required_fields_has_defaults(self):
        self.assertEqual(decode(), Job('a', 'test_eval[m-cpu-eager]', Measure(), (), False))

    def test_with_all_fields_is_read_and_unknown_fields_are_ignored(self):
        job = decode(measure={'runs': 3, 'min_run_ms': 5, 'pin': True, 'models': '/m'}, metrics=['latency', 'kernels'],
                     takes_turns=True, build={'prefix': '/x'}, caches={'is_filling': True, 'fill': 'a'}, later=1)
        self.assertEqual((job.measure.runs, job.measure.min_run_ms, job.measure.models), (3, 5.0, '/m'))
        self.assertEqual((job.metrics, job.takes_turns, job.prefix, job.is_filling),
                         (('latency', 'kernels'), True, '/x', True))

    def test_with_a_wrong_type_is_a_protocol_error_that_names_the_field(self):
        for fields, name in (({'measure': {'runs': 'x'}}, 'measure.runs'),
                             ({'measure': {'runs': True}}, 'measure.runs'),
                             ({'measure': 1}, 'measure'), ({'metrics': 'latency'}, 'metrics'), ({'id': 1}, 'id'),
                             ({'takes_turns': 1}, 'takes_turns'), ({'caches': {'is_filling': 1}}, 'caches.is_filling'),
                             ({'metrics': [1]}, 'metrics'),
                             ({'build': {'prefix': 1}}, 'build.prefix')):
            with self.subTest(fields), self.assertRaisesRegex(ProtocolError, f'^{name}: expected'):
                decode(**fields)

    def test_that_is_no_job_is_a_protocol_error(self):
        deep = '[' * 40 + ']' * 40
        for line in ('', 'x', '1', '{}', '{"type": "turn"}', '{"type": "job"}', f'{{"type": "job", "id": {deep}}}',
                     '[' * 100000):
            with self.subTest(line[:40]), self.assertRaises(ProtocolError):
                protocol.decode_job(line)


class Texts(unittest.TestCase):
    def test_of_errors_are_cut_at_a_whole_character(self):
        text = protocol.error('a', 'failed', 'ä' * 5000)['text']
        self.assertEqual(text, 'ä' * (protocol.MAX_TEXT_BYTES // 2))


class Pipe:
    """A channel whose other end the test has."""

    def __init__(self):
        from_runner, self._to_worker = os.pipe()
        self._from_worker, to_runner = os.pipe()
        self.channel = wire.Channel(from_runner, to_runner)

    def send(self, text):
        os.write(self._to_worker, text.encode())

    def end(self):
        os.close(self._to_worker)

    def close(self):
        self.channel.close()

    def read(self):
        return [json.loads(line) for line in os.read(self._from_worker, 1 << 16).decode().splitlines()]


class Turns(unittest.TestCase):
    def setUp(self):
        self.pipe = Pipe()
        self.addCleanup(self.pipe.close)
        self.session = turns.Session(Job('a', 'b', takes_turns=True), self.pipe.channel)

    def test_are_requested_and_awaited(self):
        self.pipe.send('{"type": "turn", "id": "a"}\n')
        self.session.wait_for_turn()
        self.assertEqual(self.pipe.read(), [{'type': 'ready', 'id': 'a'}])

    def test_are_not_requested_by_jobs_without_turns(self):
        turns.Session(Job('a', 'b'), self.pipe.channel).wait_for_turn()
        self.session.progress('build')
        self.assertEqual([message['type'] for message in self.pipe.read()], ['progress'])

    def test_end_with_the_input(self):
        self.pipe.end()
        with self.assertRaisesRegex(RuntimeError, 'input ended before the next turn'):
            self.session.wait_for_turn()

    def test_are_not_another_message(self):
        self.pipe.send('{"type": "job", "id": "a"}\n')
        with self.assertRaisesRegex(ProtocolError, 'waited for a turn'):
            self.session.wait_for_turn()


class Lines(unittest.TestCase):
    def test_that_are_too_long_are_an_error_and_the_next_one_is_read(self):
        reading, writing = os.pipe()
        channel = wire.Channel(reading, writing)
        if os.fork() == 0:
            text = memoryview(b'x' * (protocol.MAX_LINE_BYTES + 10) + b'\nnext\n')
            while text:
                text = text[os.write(writing, text):]
            os._exit(0)
        self.addCleanup(channel.close)
        with self.assertRaisesRegex(ProtocolError, 'more than'):
            channel.read_line()
        self.assertEqual(channel.read_line(), 'next\n')
        os.wait()

    def test_with_a_number_that_is_not_finite_are_not_written(self):
        pipe = Pipe()
        self.addCleanup(pipe.close)
        with self.assertRaises(ValueError):
            pipe.channel.write_object({'value': float('nan')})


class Failures(unittest.TestCase):
    def code_of(self, problem, benchmark='test_eval[m-cuda-eager]', precision='fp32'):
        return failures.failure_of(Job('a', benchmark, Measure(precision=precision)), problem)[0]

    def test_are_unsupported_only_when_the_worker_says_so(self):
        self.assertEqual(self.code_of(failures.Unsupported('no such model')), 'unsupported')
        self.assertEqual(self.code_of(NotImplementedError('to do')), 'failed')
        self.assertEqual(self.code_of(ImportError('x')), 'failed')

    def test_of_operators_that_a_gpu_lacks_are_unsupported_there(self):
        problem = NotImplementedError("Could not run 'aten::x' with arguments from the 'CUDA' backend.")
        self.assertEqual(self.code_of(problem), 'unsupported')
        self.assertEqual(self.code_of(problem, 'test_eval[m-cpu-eager]'), 'failed')

    def test_of_operators_that_a_precision_lacks_are_unsupported_with_it(self):
        problem = RuntimeError('"addmm_impl_cpu_" not implemented for \'Half\'')
        self.assertEqual(self.code_of(problem, 'test_eval[m-cpu-eager]', 'fp16'), 'unsupported')
        self.assertEqual(self.code_of(problem, 'test_eval[m-cpu-eager]'), 'failed')

    def test_of_the_device_have_their_codes(self):
        self.assertEqual(self.code_of(failures.NoDevice('none')), 'device')
        self.assertEqual(self.code_of(RuntimeError('CUDA error: uncorrectable ECC error encountered')), 'device')
        self.assertEqual(self.code_of(RuntimeError('CUDA out of memory. Tried')), 'device_memory')
        self.assertEqual(self.code_of(RuntimeError('an illegal memory access was encountered')), 'failed')

    def test_inside_errors_of_the_compiler_count(self):
        problem = RuntimeError('backend="inductor" raised:')
        problem.inner_exception = RuntimeError('CUDA out of memory')
        self.assertEqual(self.code_of(problem), 'device_memory')

    def test_of_a_compiler_that_lacks_a_package_or_a_program_are_unsupported_with_what_it_needs(self):
        problem = RuntimeError('backend="inductor" raised:')
        problem.inner_exception = ModuleNotFoundError("No module named 'setuptools'")
        code, text = failures.failure_of(Job('a', 'test_eval[m-cpu-inductor]'), problem)
        self.assertEqual((code, "No module named 'setuptools'; torch.compile needs g++" in text), ('unsupported', True))
        without_compiler = type('InvalidCxxCompiler', (RuntimeError,), {})
        self.assertEqual(self.code_of(without_compiler()), 'unsupported')
        self.assertEqual(self.code_of(ModuleNotFoundError('of a model that runs')), 'failed')

    def test_that_are_long_keep_their_beginning_and_end(self):
        text = failures.failure_of(Job('a', 'b'), RuntimeError('g++ ' + 'x' * 9000 + ' fatal error'))[1]
        self.assertTrue(text.startswith('b: g++ x') and text.endswith(' fatal error'), text)
        self.assertLess(len(text), 1300)

    def test_have_the_benchmark_and_one_line_without_the_backtrace(self):
        job = Job('a', 'test_eval[m-cpu-eager]')
        problem = RuntimeError('first\n  second\nException raised from x (most recent call first):\nframe #0')
        self.assertEqual(failures.failure_of(job, problem)[1], 'test_eval[m-cpu-eager]: first second')
        self.assertEqual(failures.failure_of(job, KeyError('x'))[1], "test_eval[m-cpu-eager]: KeyError: 'x'")


class Samples(unittest.TestCase):
    def test_far_from_the_median_are_outliers(self):
        self.assertEqual(samples.noisy([1, 1.02, 0.99, 5]), {'value': 1.01, 'samples': [1, 1.02, 0.99, 5],
                                                             'outliers': [3]})

    def test_leak_only_with_a_trend(self):
        self.assertEqual(samples.leak([100 + 8 * i for i in range(20)])['value'], 8)
        self.assertEqual(samples.leak([100, 108] * 10)['value'], 0)
        self.assertEqual(samples.leak([100] * 20)['samples'], [0.0] * 19)


class Metrics(unittest.TestCase):
    def test_of_a_job_are_those_it_names_or_the_native_ones(self):
        self.assertEqual(metrics.wanted(Job('a', 'b', metrics=('kernels',)), 'cpu'), {'kernels'})
        self.assertEqual(metrics.wanted(Job('a', 'b'), 'cuda'), {'latency', 'cmem', 'gmem', 'leak'})

    def test_that_are_unknown_are_unsupported(self):
        with self.assertRaisesRegex(failures.Unsupported, 'metric "ttft" is not supported; one of latency, cmem'):
            metrics.wanted(Job('a', 'b', metrics=('ttft',)), 'cpu')


if __name__ == '__main__':
    unittest.main()
