"""Parts of the worker that use PyTorch, in this process."""
import dataclasses
import importlib.util
import os
import pathlib
import stat
import sys
import tempfile
import types
import unittest
from unittest import mock

import torch

import worker  # noqa: F401  (finds the sources)
from torchwatch_worker import caches, compiling, memory, setup
from torchwatch_worker.failures import NoDevice, Unsupported
from torchwatch_worker.protocol import Job, Measure
from torchwatch_worker.workloads import hub, torchbench
from torchwatch_worker.workloads.drawing import DrawnOnDevice


def job(benchmark='test_eval[m-cpu-eager]', metrics=(), **measure):
    return Job('a', benchmark, Measure(**measure), metrics)


class Setups(unittest.TestCase):
    def test_have_the_parts_of_the_name(self):
        found = setup.setup_of(job('test_train[hf_Bert.v2-cpu-eager]', precision='bf16'))
        self.assertEqual((found.test, found.model, found.device, found.backend, found.trains, found.dtype),
                         ('train', 'hf_Bert.v2', 'cpu', 'eager', True, torch.bfloat16))

    def test_that_are_wrong_are_unsupported_and_name_what_is_allowed(self):
        for bad, text in ((job('x'), 'expected test_<test>'), (job('test_serve[m-cpu-eager]'), 'test "serve"'),
                          (job('test_eval[m-tpu-eager]'), 'device "tpu".*one of cpu, cuda'),
                          (job('test_eval[m-cpu-tvm]'), 'backend "tvm".*one of eager, inductor'),
                          (job(scale='huge'), 'scale "huge".*full, smoke'), (job(precision='fp8'), 'precision "fp8"'),
                          (job(tf32='yes'), 'tf32 "yes"'), (job(runs=0), 'runs "0".*at least 1'),
                          (job(leak_iterations=7), 'at least 8'), (job(batch=-1), 'batch "-1"'),
                          (job(metrics=('x',)), 'metric "x"')):
            with self.subTest(text), self.assertRaisesRegex(Unsupported, text):
                setup.setup_of(bad)

    def test_of_a_missing_gpu_fail_by_the_kind_of_build(self):
        with mock.patch('torch.cuda.is_available', lambda: False):
            with mock.patch('torch.version.cuda', '12.4'), self.assertRaises(NoDevice):
                setup.setup_of(job('test_eval[m-cuda-eager]'))
            with mock.patch('torch.version.cuda', None), self.assertRaises(Unsupported):
                setup.setup_of(job('test_eval[m-cuda-eager]'))

    def test_of_cuda_graphs_on_a_cpu_are_unsupported(self):
        with mock.patch('torch.compile', create=True), self.assertRaisesRegex(Unsupported, 'needs the device cuda'):
            setup.setup_of(job('test_eval[m-cpu-cudagraphs]'))


class Event:
    """An event of the profiler, in microseconds as before 2.2."""

    def __init__(self, name, start, duration=0, size=0, device='DeviceType.CPU'):
        self.name, self.start_us, self.duration_us = (lambda: name), (lambda: start), (lambda: duration)
        self.nbytes, self.device_type = (lambda: size), (lambda: device)


class HostMemory(unittest.TestCase):
    def test_has_peak_and_bytes_held_after_each_iteration(self):
        events = [Event('[memory]', 1, size=999), Event(memory.START, 2, 1), Event(memory.MARK, 10, 10),
                  Event('[memory]', 12, size=50), Event('[memory]', 13, size=-30),
                  Event('[memory]', 14, size=500, device='DeviceType.CUDA'), Event(memory.MARK, 30, 10),
                  Event('[memory]', 31, size=40), Event('[memory]', 32, size=-20), Event('aten::add', 33, size=7)]
        self.assertEqual(memory.peak_and_held(events, before=100), (160, [120, 140]))

    def test_counts_each_storage_once(self):
        before = memory.bytes_of_host_tensors()
        tensor = torch.zeros(1000)
        views = [tensor[1:], tensor.view(10, 100)]
        self.assertEqual(memory.bytes_of_host_tensors() - before, 4000)
        del tensor, views


class Drawing(unittest.TestCase):
    def test_of_large_tensors_is_done_on_the_device_and_they_stay_on_the_cpu(self):
        with mock.patch('torch.empty', wraps=torch.empty) as empty, DrawnOnDevice('cpu') as mode:
            mode._device = torch.device('cpu')  # any device that differs from the word
            layer = torch.nn.Linear(512, 512)
            torch.nn.init.normal_(layer.weight, std=0.5)
            small = torch.zeros(10).normal_()
        drawn = [call for call in empty.call_args_list if 'device' in call.kwargs and
                 call.kwargs['device'] == torch.device('cpu')]
        self.assertGreaterEqual(len(drawn), 2)
        self.assertAlmostEqual(float(layer.weight.std()), 0.5, delta=0.05)
        self.assertTrue(small.abs().sum() > 0 and layer.weight.requires_grad)

    def test_for_the_cpu_changes_nothing(self):
        torch.manual_seed(1)
        plain = torch.nn.Linear(512, 512).weight
        torch.manual_seed(1)
        with DrawnOnDevice('cpu'):
            same = torch.nn.Linear(512, 512).weight
        self.assertTrue(torch.equal(plain, same))


class Caches(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.addCleanup(self._folder.cleanup)
        self.root = pathlib.Path(self._folder.name)
        self.kept = self.root / 'kept'
        (self.kept / 'fxgraph').mkdir(parents=True)
        (self.kept / 'fxgraph/one').write_bytes(b'x' * 100)
        patches = (mock.patch('tempfile.gettempdir', lambda: str(self.root)),
                   mock.patch('getpass.getuser', lambda: 'me'),
                   mock.patch.dict(os.environ, {caches.VARIABLE: str(self.kept)}))
        for patch in patches:
            patch.start()
            self.addCleanup(patch.stop)

    def take_over(self, writable):
        with mock.patch('os.access', lambda *_: writable):
            return caches.take_over()

    def test_that_are_writable_are_used_in_place(self):
        self.assertEqual(self.take_over(writable=True), 0)
        self.assertEqual(os.environ[caches.VARIABLE], str(self.kept))
        self.assertFalse(os.path.lexists(self.root / 'torchinductor_me'))

    def test_that_the_runner_made_are_also_in_the_default_place(self):
        kept = self.root / caches.VARIABLE
        kept.mkdir()
        os.environ[caches.VARIABLE] = str(kept)
        place = self.root / 'torchinductor_me'
        for _ in range(2):
            self.assertEqual(self.take_over(writable=True), 0)
            self.assertEqual(os.readlink(place), str(kept))
        self.assertEqual(os.environ[caches.VARIABLE], str(kept))

    def test_that_the_runner_made_do_not_replace_what_lies_in_the_default_place(self):
        kept = self.root / caches.VARIABLE
        kept.mkdir()
        os.environ[caches.VARIABLE] = str(kept)
        (self.root / 'torchinductor_me').mkdir()
        self.take_over(writable=True)
        self.assertFalse(os.path.islink(self.root / 'torchinductor_me'))

    def test_that_are_read_only_are_copied_to_the_default_place(self):
        os.chmod(self.kept / 'fxgraph', stat.S_IRUSR | stat.S_IXUSR)
        self.assertEqual(self.take_over(writable=False), 100)
        self.assertNotIn(caches.VARIABLE, os.environ)
        copy = self.root / 'torchinductor_me/fxgraph'
        self.assertEqual(stat.S_IMODE(copy.stat().st_mode), 0o700)
        os.chmod(self.kept / 'fxgraph', 0o700)

    def test_that_are_read_only_do_not_replace_what_lies_in_the_default_place(self):
        (self.root / 'torchinductor_me').mkdir()
        self.assertEqual(self.take_over(writable=False), 100)
        self.assertTrue((pathlib.Path(os.environ[caches.VARIABLE]) / 'fxgraph/one').is_file())
        self.assertEqual(list((self.root / 'torchinductor_me').iterdir()), [])


    def test_from_before_have_compiled_graphs(self):
        with mock.patch.object(compiling, 'CHOSEN', frozenset()):
            (self.root / 'torchinductor_me/2j').mkdir(parents=True)
            self.assertFalse(compiling.has_cache())  # a program that tries the CPU
            (self.root / 'torchinductor_me/fxgraph').mkdir()
            self.assertTrue(compiling.has_cache())

    def test_in_a_place_that_the_environment_chose_are_caches_although_empty(self):
        with mock.patch.object(compiling, 'CHOSEN', frozenset({caches.VARIABLE})):
            self.assertTrue(compiling.has_cache())


class FakeCompiler:
    """The parts of torch.compile that the worker uses. The first call of a compiled function compiles it."""

    def __init__(self, test):
        self.log = []
        self.counters = {name: {} for name in ('inductor', 'aot_autograd', 'graph_break', 'stats')}
        self.metrics = types.SimpleNamespace(generated_kernel_count=0, reset=lambda: self.log.append('reset metrics'))
        utils = types.SimpleNamespace(fresh_cache=self.fresh_cache)
        dynamo = types.SimpleNamespace(reset=lambda: self.log.append('reset'),
                                       utils=types.SimpleNamespace(counters=types.SimpleNamespace(
                                           clear=lambda: self.log.append('clear'))))
        modules = {'torch._dynamo': dynamo, 'torch._dynamo.utils': dynamo.utils,
                   'torch._inductor': types.SimpleNamespace(metrics=self.metrics, utils=utils),
                   'torch._inductor.metrics': self.metrics, 'torch._inductor.utils': utils}
        for patch in (mock.patch.dict(sys.modules, modules), mock.patch('torch._dynamo', dynamo, create=True),
                      mock.patch('torch.compile', self.compile, create=True)):
            patch.start()
            test.addCleanup(patch.stop)

    def compile(self, function, **options):
        self.log.append(options)
        return lambda *arguments: self.log.append('compiled') or function(*arguments)

    def fresh_cache(self):
        log = self.log

        class Fresh:
            def __enter__(self):
                log.append('fresh')

            def __exit__(self, *_):
                log.append('kept')
        return Fresh()


class Compiling(unittest.TestCase):
    def setUp(self):
        self.compiler = FakeCompiler(self)
        self.has_cache = mock.patch.object(compiling, 'has_cache', lambda: False)
        self.has_cache.start()
        self.addCleanup(self.has_cache.stop)

    def prepare(self, backend='inductor', metrics=('compile',), is_filling=False):
        log = self.compiler.log

        class Workload:
            inner = staticmethod(lambda: log.append('eager'))

            def compile(self, compiler):
                self.inner = compiler(lambda: None)

            def step(self):
                self.inner()
        wanted = dataclasses.replace(job(f'test_eval[m-cpu-{backend}]', metrics), is_filling=is_filling)
        return compiling.prepare(Workload(), setup.setup_of(wanted))

    INDUCTOR = {'backend': 'inductor'}

    def test_cold_happens_in_a_fresh_cache_after_an_eager_step_and_the_start_of_the_compiler(self):
        seconds, accounts = self.prepare()
        self.assertEqual(self.compiler.log,
                         ['eager', 'fresh', self.INDUCTOR, 'compiled', 'kept', 'fresh', 'reset', 'clear',
                          'reset metrics', self.INDUCTOR, 'compiled', 'kept'])
        self.assertGreater(seconds, 0)
        self.assertEqual(accounts['compile_s'], accounts['cold_compile_s'])

    def test_cold_is_followed_by_the_cache_that_is_there(self):
        with mock.patch.object(compiling, 'has_cache', lambda: True):
            self.prepare()
        self.assertEqual(self.compiler.log[-5:], ['reset', 'clear', 'reset metrics', self.INDUCTOR, 'compiled'])

    def test_that_fills_empty_caches_happens_once_and_is_cold(self):
        with mock.patch.object(compiling, 'has_cache', lambda: True):
            seconds, accounts = self.prepare(is_filling=True)
        self.assertEqual(self.compiler.log, ['eager', 'fresh', self.INDUCTOR, 'compiled', 'kept', 'reset', 'clear',
                                             'reset metrics', self.INDUCTOR, 'compiled'])
        self.assertEqual((accounts['cold_compile_s'], accounts['compile_s']), (seconds, seconds))

    def test_that_no_job_asks_for_happens_once(self):
        seconds, accounts = self.prepare(metrics=('latency',))
        self.assertEqual((seconds, list(accounts)), (None, ['compile_s']))
        self.assertEqual(self.compiler.log, ['reset', 'clear', 'reset metrics', self.INDUCTOR, 'compiled'])

    def test_with_dynamic_shapes_and_without_inductor_passes_the_options(self):
        self.prepare('aot_eager_dynamic', metrics=('latency',))
        self.assertEqual(self.compiler.log, ['reset', 'clear', {'backend': 'aot_eager', 'dynamic': True}, 'compiled'])

    def test_of_eager_code_is_its_first_step(self):
        seconds, accounts = self.prepare('eager')
        self.assertEqual((self.compiler.log, accounts), (['eager'], {'first_step_s': seconds}))

    def test_counts_graph_breaks_kernels_and_hits(self):
        counters = {'inductor': {'fxgraph_cache_hit': 2, 'fxgraph_cache_bypass': 1}, 'stats': {'unique_graphs': 3},
                    'aot_autograd': {'autograd_cache_miss': 9}, 'graph_break': {'print': 2, 'item': 1}}
        self.compiler.metrics.generated_kernel_count = 14
        with mock.patch.object(sys.modules['torch._dynamo.utils'], 'counters', counters):
            self.assertEqual(compiling.counts('inductor'),
                             {'graph_breaks': 3, 'graphs': 3, 'kernels': 14, 'cache_hits': 2, 'cache_misses': 0,
                              'cache_bypasses': 1})
            self.assertEqual(compiling.counts('aot_eager')['kernels'], 0)

    def test_counts_the_cache_of_autograd_where_inductor_counts_none(self):
        counters = {'inductor': {}, 'stats': {}, 'graph_break': {}, 'aot_autograd': {'autograd_cache_miss': 1}}
        with mock.patch.object(sys.modules['torch._dynamo.utils'], 'counters', counters):
            self.assertEqual(compiling.counts('inductor')['cache_misses'], 1)


class FakeConfig:
    """A configuration of transformers."""

    def __init__(self):
        self.vocab_size, self.max_position_embeddings, self.num_hidden_layers, self.num_labels = 100, 64, 12, 2


class FakeForSequenceClassification(torch.nn.Module):
    """A model of transformers."""
    config_class, main_input_name = FakeConfig, 'input_ids'

    def __init__(self, config):
        super().__init__()
        self.config = config
        self.embedding = torch.nn.EmbeddingBag(config.vocab_size, config.num_labels)

    def forward(self, input_ids, labels=None):
        logits = self.embedding(input_ids)
        loss = None if labels is None else torch.nn.functional.cross_entropy(logits, labels)
        return types.SimpleNamespace(logits=logits, loss=loss)


class ModelsOfTransformers(unittest.TestCase):
    NAME = 'FakeForSequenceClassification'

    def setUp(self):
        self.module = types.ModuleType('transformers')
        setattr(self.module, self.NAME, FakeForSequenceClassification)
        self.module.Other = FakeConfig
        for patch in (mock.patch.dict(sys.modules, {'transformers': self.module}), mock.patch.dict(os.environ)):
            patch.start()
            self.addCleanup(patch.stop)

    def source(self, test='eval', name=NAME, **measure):
        return hub.Source(setup.setup_of(job(f'test_{test}[transformers.{name}-cpu-eager]', **measure)), name)

    def test_train_and_infer_with_drawn_tokens_and_labels(self):
        for test in ('train', 'eval'):
            source = self.source(test)
            source.load()
            source.build().step()
        self.assertEqual(os.environ['HF_HUB_OFFLINE'], '1')

    def test_have_few_layers_and_tokens_at_smoke_scale(self):
        source = self.source(scale='smoke')
        source.load()
        work = source.build()
        self.assertEqual((work._network.config.num_hidden_layers, work._inputs['input_ids'].shape), (2, (1, 32)))

    def test_hide_packages_only_while_transformers_is_imported(self):
        with mock.patch.object(hub, 'UNNEEDED', ('unneeded_package',)), hub._without_unneeded():
            self.assertIsNone(importlib.util.find_spec('unneeded_package'))
            self.assertIn('unneeded_package', sys.modules)
        self.assertNotIn('unneeded_package', sys.modules)

    def test_that_are_not_models_are_unsupported(self):
        for name in ('Absent', 'Other'):
            with self.assertRaisesRegex(Unsupported, 'has no class of models with that name'):
                self.source(name=name).load()


class Checkouts(unittest.TestCase):
    def test_list_their_models(self):
        self.assertEqual(torchbench.names(worker.CHECKOUT),
                         ['downloading', 'embedding', 'needs_package', 'phlippe_resnet', 'picky', 'printing', 'staged',
                          'tiny_gan', 'tiny_mlp'])

    def test_have_the_commit_of_git(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(torchbench.commit_of(folder), '')
            heads = pathlib.Path(folder, '.git/refs/heads')
            heads.mkdir(parents=True)
            pathlib.Path(folder, '.git/HEAD').write_text('ref: refs/heads/main\n', encoding='ascii')
            (heads / 'main').write_text('a' * 40 + '\n', encoding='ascii')
            self.assertEqual(torchbench.commit_of(folder), 'a' * 40)

    def test_are_compiled_where_torchbench_compiles(self):
        class Staged:
            forward = backward = optimizer_step = train = eval = staticmethod(lambda: 'eager')

            def invoke(self):
                return self.forward()
        model = Staged()
        work = torchbench.Workload(setup.setup_of(job('test_train[m-cpu-eager]')), model)
        work.compile(lambda function: lambda: 'compiled ' + function())
        self.assertEqual((model.forward(), model.eval()), ('compiled eager', 'eager'))


if __name__ == '__main__':
    unittest.main()
