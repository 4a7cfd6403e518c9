"""The ResNet of He et al., 2015, arXiv 1512.03385, for images of 32 x 32 pixels, with the operators of
runner/suite/models/phlippe.cpp at full scale."""
import torch
from torch import nn

from ...util.model import BenchmarkModel

CLASSES = 10
WIDTHS, DEPTHS = (16, 32, 64), (3, 3, 3)


class Block(nn.Module):
    """Two convolutions and a shortcut."""

    def __init__(self, fan_in, fan_out):
        super().__init__()
        stride = 1 if fan_in == fan_out else 2
        self.net = nn.Sequential(
            nn.Conv2d(fan_in, fan_out, 3, stride, 1, bias=False), nn.BatchNorm2d(fan_out), nn.ReLU(),
            nn.Conv2d(fan_out, fan_out, 3, 1, 1, bias=False), nn.BatchNorm2d(fan_out))
        self.downsample = None if fan_in == fan_out else nn.Conv2d(fan_in, fan_out, 1, 2)
        self.act_fn = nn.ReLU()

    def forward(self, images):
        shortcut = images if self.downsample is None else self.downsample(images)
        return self.act_fn(self.net(images) + shortcut)


def network():
    """Returns the network."""
    blocks, fan_in = [], WIDTHS[0]
    for fan_out, depth in zip(WIDTHS, DEPTHS):
        for _ in range(depth):
            blocks.append(Block(fan_in, fan_out))
            fan_in = fan_out
    return nn.Sequential(nn.Conv2d(3, WIDTHS[0], 3, padding=1, bias=False), nn.BatchNorm2d(WIDTHS[0]), nn.ReLU(),
                         *blocks, nn.AdaptiveAvgPool2d((1, 1)), nn.Flatten(), nn.Linear(fan_in, CLASSES))


class Model(BenchmarkModel):
    DEFAULT_TRAIN_BSIZE = 8
    DEFAULT_EVAL_BSIZE = 8

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        self.model = network().to(device)
        self.images = torch.randn(self.batch_size, 3, 32, 32, device=device)
        self.target = torch.randint(0, CLASSES, (self.batch_size,), device=device)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)

    def train(self):
        self.model.train()
        loss = nn.functional.cross_entropy(self.model(self.images), self.target)
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def eval(self):
        self.model.eval()
        return (self.model(self.images),)
