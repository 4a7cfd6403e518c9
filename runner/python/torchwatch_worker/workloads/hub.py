"""Classes of transformers with their default configuration and random weights: transformers.BertForMaskedLM."""
import contextlib
import os
import sys

import torch

from torchwatch_worker.failures import Unsupported
from torchwatch_worker.workloads.supervised import Supervised

# Optional packages that transformers imports where they are installed, and that cost seconds
UNNEEDED = ('accelerate', 'bitsandbytes', 'cv2', 'datasets', 'deepspeed', 'flax', 'jax', 'librosa', 'matplotlib',
            'pandas', 'peft', 'scipy', 'sklearn', 'soundfile', 'tensorflow', 'torchaudio', 'torchvision')
VARIABLES = {'USE_TORCH': '1', 'USE_TF': '0', 'USE_FLAX': '0', 'HF_HUB_OFFLINE': '1',
             'TRANSFORMERS_NO_ADVISORY_WARNINGS': '1'}
LONGEST_SEQUENCE = {'full': 512, 'smoke': 32}
FEW_LAYERS = {'num_hidden_layers': 2, 'n_layer': 2, 'num_layers': 2, 'encoder_layers': 2, 'decoder_layers': 2}
LABELS_LIKE_TOKENS = ('LMHeadModel', 'ForCausalLM', 'ForMaskedLM', 'ForConditionalGeneration', 'ForTokenClassification')
LABEL_OF_SAMPLE = ('ForSequenceClassification', 'ForImageClassification')


@contextlib.contextmanager
def _without_unneeded():
    """While it is entered, packages of UNNEEDED that are not imported yet are not found."""
    hidden = [package for package in UNNEEDED if package not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        for package in hidden:
            if sys.modules.get(package) is None:
                sys.modules.pop(package, None)


class Source:
    """A model class of transformers."""

    def __init__(self, setup, name):
        self._setup = setup
        self._name = name
        self._class = None

    def load(self):
        """Imports transformers, and from it only what the class needs."""
        os.environ.update({name: value for name, value in VARIABLES.items() if name not in os.environ})
        try:
            with _without_unneeded():
                import transformers
                self._class = getattr(transformers, self._name, None)
        except Exception as problem:
            raise Unsupported(f'transformers cannot be imported: {type(problem).__name__}: {problem}') from problem
        if getattr(self._class, 'config_class', None) is None:
            raise Unsupported(f'model "transformers.{self._name}" is not supported; transformers has no class of '
                              'models with that name')

    def build(self):
        """Returns the workload."""
        config = self._config()
        inputs = self._inputs(config)
        if self._setup.trains:
            inputs['labels'] = self._labels(config, inputs)
        return Supervised(self._setup, self._class(config), inputs, lambda output: output.loss)

    def _config(self):
        config = self._class.config_class()
        config.use_cache = False
        if self._setup.measure.scale == 'smoke':
            for name, value in FEW_LAYERS.items():
                if isinstance(getattr(config, name, None), int):
                    setattr(config, name, value)
        return config

    def _inputs(self, config):
        batch = self._setup.batch(4, 1)
        if self._class.main_input_name == 'pixel_values':
            side = config.image_size
            return {'pixel_values': torch.randn(batch, getattr(config, 'num_channels', 3), side, side)}
        if self._class.main_input_name != 'input_ids':
            raise Unsupported(f'model "transformers.{self._name}" is not supported; the worker makes tokens and '
                              f'images, it needs {self._class.main_input_name}')
        return self._tokens(config, batch)

    def _tokens(self, config, batch):
        longest = getattr(config, 'max_position_embeddings', None) or LONGEST_SEQUENCE['full']
        length = min(LONGEST_SEQUENCE[self._setup.measure.scale], longest)
        tokens = torch.randint(0, config.vocab_size, (batch, length))
        inputs = {'input_ids': tokens}
        if getattr(config, 'is_encoder_decoder', False):
            inputs['decoder_input_ids'] = tokens.clone()
        return inputs

    def _labels(self, config, inputs):
        if self._name.endswith(LABELS_LIKE_TOKENS):
            return inputs['input_ids'].clone() % (config.num_labels if 'Token' in self._name else config.vocab_size)
        if self._name.endswith(LABEL_OF_SAMPLE):
            return torch.randint(0, config.num_labels, (len(next(iter(inputs.values()))),))
        raise Unsupported(f'test "train" is not supported; transformers.{self._name} has no loss that the worker knows')
