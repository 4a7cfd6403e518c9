"""A model that prints, writes to descriptor 1, reads standard input, and has a child that prints."""
import os
import subprocess
import sys

import torch

from ...util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_EVAL_BSIZE = 2

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        print('{"type": "turn"}')
        os.write(1, b'a line\n')
        subprocess.run(['echo', 'a line'], check=True)
        assert sys.stdin.read() == ''
        self.rows = torch.ones(self.batch_size)

    def eval(self):
        return (self.rows + 1,)
