"""A perceptron with train and eval."""
import torch
from torch import nn

from ...util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_TRAIN_BSIZE = 16
    DEFAULT_EVAL_BSIZE = 32

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        self.model = nn.Sequential(nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 1)).to(device)
        self.rows = torch.randn(self.batch_size, 64, device=device)
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def train(self):
        self.optimizer.zero_grad()
        self.model(self.rows).square().mean().backward()
        self.optimizer.step()

    def eval(self):
        return (self.model(self.rows),)
