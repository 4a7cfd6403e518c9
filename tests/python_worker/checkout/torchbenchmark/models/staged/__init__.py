"""A model with the stages forward, backward and optimizer_step."""
import torch
from torch import nn

from ...util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_TRAIN_BSIZE = 16
    DEFAULT_EVAL_BSIZE = 16
    train = None

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        self.model = nn.GRU(16, 16, batch_first=True).to(device)
        self.rows = torch.randn(self.batch_size, 8, 16, device=device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def forward(self):
        return self.model(self.rows)[0].square().mean()

    def backward(self, losses):
        losses.backward()

    def optimizer_step(self):
        self.optimizer.step()

    def eval(self):
        return self.model(self.rows)
