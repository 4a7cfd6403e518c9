"""A generator and a discriminator, trained in one step."""
import torch
from torch import nn

from torchbenchmark.util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_TRAIN_BSIZE = 4
    DEFAULT_EVAL_BSIZE = 8

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        self.generator = nn.Sequential(nn.ConvTranspose2d(8, 3, 8), nn.Tanh()).to(device)
        self.model = nn.Sequential(nn.Conv2d(3, 8, 8), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(8, 1)).to(device)
        self.noise = torch.randn(self.batch_size, 8, 1, 1, device=device)
        parameters = [*self.model.parameters(), *self.generator.parameters()]
        self.optimizer = torch.optim.Adam(parameters)

    def train(self):
        self.optimizer.zero_grad()
        self.model(self.generator(self.noise)).sigmoid().log().mean().backward()
        self.optimizer.step()

    def eval(self):
        return (self.model(self.generator(self.noise)),)
