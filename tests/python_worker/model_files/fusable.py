"""Operators that Inductor fuses. TORCHWATCH_TEST_FUSION=0 makes it a build that fuses nothing, which the key of
Inductor's cache does not see."""
import os

import torch

if os.environ.get('TORCHWATCH_TEST_FUSION') == '0':
    from torch._inductor import scheduler
    scheduler.Scheduler.can_fuse = lambda *_: False


class Net(torch.nn.Module):
    def forward(self, value):
        for _ in range(4):
            value = torch.softmax(value * 1.5 + 0.5, dim=-1).sin() + value
            value = torch.nn.functional.layer_norm(value, value.shape[-1:]).relu()
        return value


def make(setup):
    return Net(), (torch.randn(256, setup.pick(4096, 512)),)
