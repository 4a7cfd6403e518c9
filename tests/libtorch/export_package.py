"""Compiles a small network to a package of AOTInductor. usage: export_package.py FILE.pt2"""
import sys

import torch


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(256, 512)
        self.second = torch.nn.Linear(512, 8)

    def forward(self, x):
        return self.second(torch.relu(self.first(x)))


network = torch.export.export(Network().eval(), (torch.randn(16, 256),))
torch._inductor.aoti_compile_and_package(network, package_path=sys.argv[1])
