"""An embedding that can only infer, with one batch size."""
import torch
from torch import nn

from ...util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_EVAL_BSIZE = 16
    ALLOW_CUSTOMIZE_BSIZE = False

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        self.model = nn.EmbeddingBag(1000, 32, mode='sum').to(device)
        self.rows = torch.randint(0, 1000, (self.batch_size, 20), device=device)

    def eval(self):
        return (self.model(self.rows),)
