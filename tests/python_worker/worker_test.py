"""The worker as a program: models of a checkout in TorchBench's layout, model files, turns, and real measurements."""
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

import torch

from worker import CHECKOUT, HERE, MODEL_FILES, WORKER, Worker, ask, job
from torchwatch_worker import host  # in the sources, which worker.py finds

NATIVE_WORKER = os.environ.get('TORCHWATCH_NATIVE_WORKER', '')
EXACT = ('cmem', 'graph_breaks', 'kernels')
MODELS = ('phlippe_resnet', 'tiny_mlp', 'tiny_gan', 'staged', 'embedding')


def name(model, test='eval', backend='eager', device='cpu'):
    return f'test_{test}[{model}-{device}-{backend}]'


class Build(unittest.TestCase):
    """`prefix` of a job: PyTorch must have been imported from there."""

    def ask(self, prefix):
        with Worker() as worker:
            return worker.ask({**job(name('tiny_mlp'), ['latency'], models=CHECKOUT), 'build': {'prefix': str(prefix)}})

    def test_around_or_at_the_imported_torch_is_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            link = pathlib.Path(folder, 'torch')
            link.symlink_to(os.path.dirname(torch.__file__))
            for prefix in (folder, link, pathlib.Path(torch.__file__).parent.parent):
                with self.subTest(prefix):
                    self.assertEqual(self.ask(prefix)['type'], 'result')

    def test_without_the_imported_torch_fails_with_both_places(self):
        with tempfile.TemporaryDirectory() as folder:
            answer = self.ask(folder)
        self.assertEqual(answer['code'], 'failed')
        for text in (os.path.dirname(torch.__file__), f'not from the build {os.path.realpath(folder)}'):
            self.assertIn(text, answer['text'])

    def start(self, *files):
        """Returns the exit status and errors of a worker whose PyTorch has these files and cannot be imported."""
        with tempfile.TemporaryDirectory() as folder:
            package = pathlib.Path(folder, 'torch')
            package.mkdir()
            for file in files:
                (package / file).touch()
            (package / '__init__.py').write_text('import torch._C\n')
            ended = subprocess.run([sys.executable, '-B', WORKER], env={**os.environ, 'PYTHONPATH': folder}, text=True,
                                   stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return ended.returncode, ended.stderr

    def test_for_another_python_ends_with_both_pythons(self):
        status, errors = self.start('_C.cpython-399-x86_64-linux-gnu.so')
        major, minor = sys.version_info[:2]
        self.assertEqual(status, 1)
        self.assertRegex(errors, rf'^torchwatch-python-worker: \S+ is Python {major}\.{minor}, .*: _C\.cpython-399.*\. '
                                 rf'Set feed\.python to "cp{major}{minor}", or .*\n$')

    def test_that_is_incomplete_ends_with_its_import_error(self):
        for files in [], ['_C.abi3.so']:
            with self.subTest(files):
                status, errors = self.start(*files)
                self.assertEqual(status, 1)
                self.assertIn('ImportError' if files else "No module named 'torch._C'", errors)


class Hello(unittest.TestCase):
    def test_comes_first_and_describes_build_and_host(self):
        with Worker() as worker:
            hello = worker.hello
        self.assertEqual((hello['type'], hello['protocol'], hello['role']), ('hello', 5, 'worker'))
        self.assertEqual(hello['pytorch_version'], torch.__version__)
        self.assertIn('cpu', hello['devices'])
        for fact in ('host', 'kernel', 'cpu', 'processors', 'threads', 'python', 'libtorch', 'libtorch_config'):
            self.assertIn(fact, hello['fingerprint'])
        self.assertEqual(worker.status, 0)


class Checkout(unittest.TestCase):
    """One worker answers many jobs."""

    @classmethod
    def setUpClass(cls):
        cls.worker = Worker()

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

    def ask(self, model, test='eval', metrics=(), **measure):
        return self.worker.ask(job(name(model, test), metrics, models=CHECKOUT, **measure))

    def test_models_have_the_native_metrics(self):
        for model in MODELS:
            for test in ('train', 'eval') if model != 'embedding' else ('eval',):
                with self.subTest(model=model, test=test):
                    answer = self.ask(model, test)
                    self.assertEqual(answer['type'], 'result', answer)
                    self.assertEqual(set(answer['metrics']), {'latency', 'cmem', 'leak'})
                    self.assertEqual(len(answer['metrics']['latency']['samples']), 3)
                    self.assertGreater(answer['metrics']['latency']['value'], 0)
                    self.assertGreater(answer['metrics']['cmem']['value'], 0)
                    self.assertEqual(answer['metrics']['leak']['value'], 0)

    def test_the_peak_alone_takes_few_steps(self):
        peaks = {}
        for metrics in (['cmem'], ['cmem', 'leak']):
            self.worker.send(job(name('phlippe_resnet', 'train'), metrics, models=CHECKOUT, leak_iterations=20))
            *messages, answer = self.worker.read_until('result', 'error')
            steps = [message['total'] for message in messages if message.get('phase') == 'leak']
            peaks[steps[0]] = answer['metrics']['cmem']['value']
        self.assertEqual(set(peaks), {3, 20})
        self.assertEqual(peaks[3], peaks[20])

    def test_metrics_are_those_that_the_job_names(self):
        names = ['latency', 'gmem', 'compile', 'graph_breaks', 'kernels']
        metrics = self.ask('tiny_mlp', metrics=names)['metrics']
        self.assertEqual(set(metrics), set(names))
        for exact in ('gmem', 'graph_breaks', 'kernels'):
            self.assertEqual(metrics[exact], {'value': 0.0, 'samples': [0.0], 'outliers': []})
        self.assertGreater(metrics['compile']['value'], 0)

    def test_accounts_have_the_seconds_of_the_parts(self):
        accounts = self.ask('tiny_mlp')['accounts']
        for account in ('import_s', 'load_s', 'build_s', 'first_step_s', 'rss_peak_bytes'):
            self.assertGreater(accounts[account], 0)

    def test_batch_is_that_of_the_job(self):
        small, large = (self.ask('tiny_mlp', metrics=['cmem'], batch=batch)['metrics']['cmem']['value']
                        for batch in (16, 1016))
        self.assertGreaterEqual(large - small, 1000 * 64 * 4)

    def test_models_that_do_not_fit_are_unsupported_with_the_reason(self):
        for model, test, batch, text in (
                ('needs_package', 'eval', 0, "cannot be imported: ModuleNotFoundError: No module named 'package_"),
                ('downloading', 'eval', 0, 'needs weights that are not on this host'),
                ('absent', 'eval', 0, 'has no such model'), ('embedding', 'train', 0, 'default batch size of train'),
                ('embedding', 'eval', 7, "doesn't support customizing batch size")):
            with self.subTest(text):
                answer = self.ask(model, test, batch=batch)
                self.assertEqual(answer.get('code'), 'unsupported', answer)
                self.assertIn(text, answer['text'])

    def test_not_implemented_error_of_a_step_is_a_failure(self):
        answer = self.ask('picky')
        self.assertEqual((answer['code'], 'this is a defect' in answer['text']), ('failed', True))

    def test_output_of_a_model_and_its_children_does_not_reach_the_runner(self):
        self.assertEqual(self.ask('printing')['type'], 'result')

    def test_compilers_are_unsupported_without_torch_compile(self):
        if hasattr(torch, 'compile'):
            self.skipTest('this PyTorch has torch.compile')
        answer = self.worker.ask(job(name('tiny_mlp', backend='inductor'), models=CHECKOUT))
        self.assertEqual(answer['code'], 'unsupported')
        self.assertIn('has no torch.compile', answer['text'])

    def test_lines_that_are_no_jobs_are_protocol_errors_and_the_next_job_is_answered(self):
        for line in ('x', '{"type": "turn", "id": "a"}', '{"type": "job", "id": 1, "benchmark": "x"}'):
            answer = self.worker.ask(line)
            self.assertEqual((answer['id'], answer['code']), ('', 'protocol'))
        self.assertEqual(self.ask('tiny_mlp')['type'], 'result')


class ModelFiles(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = Worker()

    @classmethod
    def tearDownClass(cls):
        cls.worker.__exit__()

    def ask(self, model, test='eval', **measure):
        return self.worker.ask(job(name(model, test), models=MODEL_FILES, **measure))

    def test_with_network_inputs_and_loss_train_and_infer(self):
        for test in ('train', 'eval'):
            self.assertEqual(self.ask('net', test)['type'], 'result')

    def test_with_a_function_run_it(self):
        self.assertEqual(self.ask('function')['metrics']['cmem']['value'], 2 * 64 * 64 * 4)

    def test_that_keep_memory_leak(self):
        self.assertEqual(self.ask('leaky', leak_iterations=20)['metrics']['leak']['value'], 1024)

    def test_that_are_wrong_fail_with_the_reason(self):
        for model, code, text in (('nothing', 'unsupported', 'needs a function make(setup)'),
                                  ('broken', 'unsupported', 'cannot be imported: ValueError: broken'),
                                  ('hungry', 'device_memory', 'Tried to allocate 20.00 GiB'),
                                  ('ending', 'failed', 'SystemExit: 3'),
                                  ('absent', 'unsupported', 'by name there are example_mlp')):
            with self.subTest(model):
                answer = self.ask(model)
                self.assertEqual((answer.get('code'), text in answer.get('text', '')), (code, True), answer)
                self.assertNotIn('frame #0', answer['text'])

    def test_precision_is_applied(self):
        fp32, bf16 = (self.ask('net', precision=precision)['metrics']['cmem']['value']
                      for precision in ('fp32', 'bf16'))
        self.assertLess(bf16, fp32)


class ByName(unittest.TestCase):
    def test_examples_need_no_directory(self):
        self.assertEqual(ask(name('example_convnet', 'train'))['type'], 'result')

    def test_torchvision_is_measured_where_it_is_installed(self):
        answer = ask(name('torchvision.squeezenet1_1'), ('latency', 'cmem'), batch=1)
        if answer.get('code') == 'unsupported' and 'cannot be imported' in answer['text']:
            self.skipTest(answer['text'])
        self.assertEqual(answer['type'], 'result', answer)

    def test_names_that_are_unknown_are_unsupported(self):
        for model in ('torchvision.absent', 'transformers.Absent', 'absent'):
            self.assertEqual(ask(name(model))['code'], 'unsupported')


class Turns(unittest.TestCase):
    def test_are_awaited_before_building_before_each_run_and_after_the_last(self):
        with Worker() as worker:
            worker.send(job(name('example_mlp'), takes_turns=True))
            phases = []
            while (message := worker.read_until('ready', 'result', 'error')[-1])['type'] == 'ready':
                phases.append(message['type'])
                worker.send({'type': 'turn', 'id': 'job-1'})
        self.assertEqual((len(phases), message['type']), (1 + 3 + 1, 'result'))

    def test_are_awaited_without_work(self):
        with Worker() as worker:
            worker.send(job(name('example_mlp'), takes_turns=True))
            worker.read_until('ready')
            self.assertLess(self.seconds_of_processor_while_waiting(worker.process.pid), 0.05)

    def seconds_of_processor_while_waiting(self, process):
        def used():
            fields = pathlib.Path(f'/proc/{process}/stat').read_text(encoding='ascii').rsplit(')', 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')
        time.sleep(0.2)
        before = used()
        time.sleep(0.5)
        return used() - before

    def test_that_do_not_come_end_the_worker(self):
        with Worker() as worker:
            worker.send(job(name('example_mlp'), takes_turns=True))
            worker.read_until('ready')
        self.assertEqual(worker.status, 0)


class Measurements(unittest.TestCase):
    RUNS = 15

    def test_memory_is_equal_to_the_byte_in_two_processes(self):
        for model, test in (('phlippe_resnet', 'train'), ('staged', 'train'), ('tiny_gan', 'eval')):
            with self.subTest(model=model, test=test):
                first, second = (ask(name(model, test), ('cmem',), models=CHECKOUT)['metrics'] for _ in range(2))
                self.assertEqual(first, second)

    def test_gradients_count_once(self):
        """512 x 512 weights, gradients and two moments of Adam, 1 MiB each, and a little more."""
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, 'wide.py').write_text(
                'import torch\n'
                'def make(setup): return torch.nn.Linear(512, 512, bias=False), (torch.randn(1, 512),)\n'
                'def loss(output): return output.mean()\n', encoding='ascii')
            peak = ask(name('wide', 'train'), ('cmem',), models=folder)['metrics']['cmem']['value']
        self.assertGreaterEqual(peak, 4 << 20)
        self.assertLess(peak, 6.5 * (1 << 20))

    def test_latency_is_that_of_a_plain_loop_run_by_run(self):
        sys.path.insert(0, CHECKOUT)
        from torchbenchmark.models.phlippe_resnet import Model
        host.keep_freed_memory()  # without it, the loop takes half as long again
        host.set_threads(1)
        model, plain = Model('eval', 'cpu', 8, ['--precision', 'fp32']), []
        with Worker() as worker:
            worker.send(job(name('phlippe_resnet'), ('latency',), takes_turns=True, models=CHECKOUT, runs=self.RUNS,
                            min_run_ms=40, batch=8))
            while (message := worker.read_until('ready', 'result', 'error')[-1])['type'] == 'ready':
                plain.append(self.milliseconds_of(model))
                worker.send({'type': 'turn', 'id': 'job-1'})
        measured = message['metrics']['latency']['value']
        ratio = measured / statistics.median(plain[2:])
        self.assertTrue(0.75 < ratio < 1.33, f'{ratio} of {plain}')

    def milliseconds_of(self, model, steps=8):
        model.invoke()
        begun = time.perf_counter()
        for _ in range(steps):
            model.invoke()
        return (time.perf_counter() - begun) * 1e3 / steps


class Operators(unittest.TestCase):
    """Python's linear is an operator of its own, which C++ does not dispatch. Releases before 2.7 do not name
    overloads."""

    def dispatched(self, answer):
        calls = collections.Counter()
        for cost in answer['profile']:
            calls[cost['name'].split('.')[0]] += cost['calls']
        calls.pop('aten::linear', None)
        return dict(calls)

    def by_python(self):
        return self.dispatched(ask(name('phlippe_resnet'), models=CHECKOUT, batch=4, scale='full', profile=True))

    def test_of_a_resnet_are_those_that_the_native_worker_dispatched(self):
        recorded = json.loads((HERE / 'data/phlippe_resnet_eval.json').read_text(encoding='ascii'))
        if not torch.__version__.startswith(recorded['pytorch_version'].rsplit('.', 1)[0]):
            self.skipTest(f'recorded with {recorded["pytorch_version"]}, this is {torch.__version__}')
        profile = [{'name': operator, 'calls': calls} for operator, calls in recorded['operators'].items()]
        self.assertEqual(self.by_python(), self.dispatched({'profile': profile}))

    @unittest.skipUnless(NATIVE_WORKER, 'the native worker is not built')
    def test_of_a_resnet_are_those_that_the_native_worker_dispatches(self):
        with Worker([NATIVE_WORKER]) as native:
            if native.hello['pytorch_version'].rsplit('.', 1)[0] not in torch.__version__:
                self.skipTest('the native worker uses another PyTorch')
            question = job(name('phlippe_resnet'), batch=4, scale='full', profile=True)
            answer = native.ask(question)
        self.assertEqual(self.by_python(), self.dispatched(answer))


@unittest.skipUnless(hasattr(torch, 'compile'), 'this PyTorch has no torch.compile')
class Compiled(unittest.TestCase):
    def test_models_report_compilation_kernels_and_caches(self):
        with tempfile.TemporaryDirectory() as cache:
            answers = [self.compiled(cache) for _ in range(2)]
        first, second = (answer['metrics'] for answer in answers)
        self.assertEqual(first['kernels'], second['kernels'])
        self.assertEqual((first['graph_breaks']['value'], first['kernels']['value'] > 0), (0, True))
        self.assertGreater(answers[0]['accounts']['cache_misses'], 0)
        self.assertGreater(answers[1]['accounts']['cache_hits'], 0)
        self.assertEqual(answers[1]['accounts']['cache_misses'], 0)

    def compiled(self, cache):
        with Worker(TORCHINDUCTOR_CACHE_DIR=cache) as worker:
            answer = worker.ask(job(name('tiny_mlp', backend='inductor'), ('latency', 'graph_breaks', 'kernels'),
                                    models=CHECKOUT))
        self.assertEqual(answer['type'], 'result', answer)
        return answer

    def test_compilation_is_cold_although_there_is_a_cache(self):
        with tempfile.TemporaryDirectory() as cache:
            self.compiled(cache)
            with Worker(TORCHINDUCTOR_CACHE_DIR=cache) as worker:
                answer = worker.ask(job(name('tiny_mlp', backend='inductor'), ('compile',), models=CHECKOUT))
        self.assertGreater(answer['metrics']['compile']['value'], answer['accounts']['compile_s'])

    def test_caches_that_a_job_filled_have_what_the_next_job_compiles(self):
        for test in ('train', 'eval'):
            wanted = job(name('tiny_mlp', test, 'inductor'), ('latency', 'compile'), models=CHECKOUT)
            with self.subTest(test), tempfile.TemporaryDirectory() as cache:
                accounts = []
                for is_filling in (True, False):
                    with Worker(TORCHINDUCTOR_CACHE_DIR=cache) as worker:
                        answer = worker.ask({**wanted, 'caches': {'is_filling': is_filling}})
                    self.assertEqual(answer['type'], 'result', answer)
                    accounts.append(answer['accounts'])
                self.assertEqual(accounts[0]['compile_s'], accounts[0]['cold_compile_s'])
                self.assertEqual(accounts[1]['cache_misses'], 0)
                self.assertGreater(accounts[1]['cache_hits'], 0)

    def files(self, model, backend='inductor', metrics=EXACT, test='eval', **environment):
        """Returns the answer of a new worker about a model file."""
        with Worker(**environment) as worker:
            answer = worker.ask(job(name(model, test, backend), metrics, models=MODEL_FILES))
        self.assertEqual(answer['type'], 'result', answer)
        return answer

    def exact(self, answer):
        return {metric: answer['metrics'][metric]['value'] for metric in EXACT}

    def test_exact_metrics_are_equal_in_two_processes(self):
        for backend in ('inductor', 'inductor_dynamic', 'aot_eager'):
            for test in ('train', 'eval'):
                with self.subTest(backend=backend, test=test):
                    first, second = (self.exact(self.files('transformer', backend, test=test)) for _ in range(2))
                    self.assertEqual(first, second)

    def test_a_graph_break_of_the_network_counts_once(self):
        metrics = self.exact(self.files('breaking', 'aot_eager'))
        self.assertEqual(metrics['graph_breaks'], 1)

    def test_the_cache_of_another_build_hides_what_a_cache_of_its_own_shows(self):
        def answer(fusion, cache):
            return self.files('fusable', TORCHWATCH_TEST_FUSION=fusion, TORCHINDUCTOR_CACHE_DIR=cache)
        with tempfile.TemporaryDirectory() as cache, tempfile.TemporaryDirectory() as own:
            fused, hidden, shown = answer('1', cache), answer('0', cache), answer('0', own)
        self.assertEqual(self.exact(hidden), self.exact(fused))
        self.assertEqual((hidden['accounts']['cache_hits'], shown['accounts']['cache_misses']), (1, 1))
        self.assertGreater(self.exact(shown)['kernels'], self.exact(fused)['kernels'])
        self.assertGreater(self.exact(shown)['cmem'], self.exact(fused)['cmem'])

    def test_without_a_cache_a_model_is_compiled_once_and_no_file_is_left_of_the_process(self):
        with tempfile.TemporaryDirectory() as folder:
            accounts = self.files('fusable', metrics=('compile',), TMPDIR=folder)['accounts']
            left = [entry for entry in os.listdir(folder) if not entry.startswith('torchinductor_')]
        self.assertEqual((accounts['compile_s'], left), (accounts['cold_compile_s'], []))

    def test_without_a_c_compiler_inductor_is_unsupported_with_what_it_needs(self):
        with tempfile.TemporaryDirectory() as folder, Worker(CXX='absent', TMPDIR=folder) as worker:
            answer = worker.ask(job(name('net', backend='inductor'), models=MODEL_FILES))
        self.assertEqual(answer.get('code'), 'unsupported', answer)
        self.assertIn('torch.compile needs g++', answer['text'])

    def test_every_backend_of_the_cpu_is_measured(self):
        for backend in ('inductor_dynamic', 'aot_eager', 'aot_eager_dynamic'):
            for test in ('train', 'eval'):
                with self.subTest(backend=backend, test=test):
                    self.assertEqual(ask(name('staged', test, backend), models=CHECKOUT)['type'], 'result')


class Options(unittest.TestCase):
    def run_worker(self, *options):
        return subprocess.run([sys.executable, '-B', WORKER, *options], capture_output=True, text=True, check=False)

    def test_list_prints_models_and_metrics_as_json(self):
        listed = json.loads(self.run_worker('--list', CHECKOUT).stdout)
        self.assertLessEqual({'example_mlp', *MODELS}, set(listed['models']))
        self.assertEqual(listed['metrics']['kernels'], {'unit': '1', 'better': 'lower', 'kind': 'exact'})
        self.assertEqual((listed['protocol'], listed['tests']), (5, ['train', 'eval']))
        listed = json.loads(self.run_worker('--list', MODEL_FILES).stdout)
        self.assertLessEqual({'net', 'function'}, set(listed['models']))

    def test_list_of_a_missing_directory_fails(self):
        ended = self.run_worker('--list', '/absent')
        self.assertEqual((ended.returncode, ended.stdout), (1, ''))
        self.assertIn('/absent is not a directory', ended.stderr)

    def test_that_are_unknown_are_refused(self):
        self.assertEqual(self.run_worker('--help').returncode, 0)
        ended = self.run_worker('--lst')
        self.assertEqual(ended.returncode, 2)
        self.assertIn('unknown option --lst', ended.stderr)


if __name__ == '__main__':
    unittest.main()
