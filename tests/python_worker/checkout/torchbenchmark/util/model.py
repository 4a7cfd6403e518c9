"""The base class of the models, with the interface of TorchBench's."""
import argparse

import torch


class BenchmarkModel:
    """`invoke` is one iteration. Models have eval and train, or forward, backward and optimizer_step."""
    DEFAULT_TRAIN_BSIZE = None
    DEFAULT_EVAL_BSIZE = None
    ALLOW_CUSTOMIZE_BSIZE = True

    def __init__(self, test, device, batch_size=None, extra_args=()):
        parser = argparse.ArgumentParser(allow_abbrev=False)
        parser.add_argument('--precision', choices=['fp32', 'fp16', 'bf16', 'amp'])
        self.dargs = parser.parse_args(extra_args)
        self.test, self.device = test, device
        default = self.DEFAULT_TRAIN_BSIZE if test == 'train' else self.DEFAULT_EVAL_BSIZE
        if not default:
            raise NotImplementedError(f'the default batch size of {test} is not implemented.')
        if batch_size and batch_size != default and not self.ALLOW_CUSTOMIZE_BSIZE:
            raise NotImplementedError('Model doesn\'t support customizing batch size.')
        self.batch_size = batch_size or default

    def _is_staged(self):
        return all(hasattr(self, stage) for stage in ('forward', 'backward', 'optimizer_step'))

    def _invoke_staged(self):
        self.optimizer.zero_grad()
        losses = self.forward()
        self.backward(losses)
        self.optimizer_step()

    def invoke(self):
        """Runs one iteration."""
        with torch.enable_grad() if self.test == 'train' else torch.no_grad():
            if self.test == 'eval':
                return self.eval()
            if self._is_staged() and getattr(self, 'train', None) is None:
                return self._invoke_staged()
            return self.train()
