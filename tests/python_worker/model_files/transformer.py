import torch
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embedding = nn.Embedding(1000, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, dropout=0.0, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, 1000)

    def forward(self, tokens):
        return self.head(self.encoder(self.embedding(tokens)))


def make(setup):
    return Net(setup.pick(128, 32)), (torch.randint(0, 1000, (setup.batch(4, 2), 32)),)


def loss(output):
    return output.square().mean()
