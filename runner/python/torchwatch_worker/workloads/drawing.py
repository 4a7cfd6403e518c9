"""Random weights, drawn on the device."""
import contextlib

import torch

try:
    from torch.overrides import TorchFunctionMode
except ImportError:  # before 1.13
    TorchFunctionMode = contextlib.nullcontext

FEW = 1 << 16  # numbers; fewer are drawn faster on the CPU
METHODS = (torch.Tensor.normal_, torch.Tensor.uniform_)
# Modes are off within these, so that they do not see the methods
INITIALIZERS = (torch.nn.init.normal_, torch.nn.init.uniform_, torch.nn.init.kaiming_uniform_)


class DrawnOnDevice(TorchFunctionMode):
    """While it is entered, large tensors on the CPU are filled with random numbers that the GPU draws. The tensors stay
    on the CPU, so models are the same ones. One thread of a CPU draws the weights of a large model in ten seconds."""

    def __init__(self, device):
        super().__init__()
        self._device = device

    def _is_faster(self, function, tensor, kwargs):
        return (self._device != 'cpu' and function in METHODS + INITIALIZERS and kwargs.get('generator') is None and
                isinstance(tensor, torch.Tensor) and tensor.device.type == 'cpu' and tensor.numel() > FEW)

    def _draw(self, function, tensor, arguments, kwargs):
        drawn = torch.empty(tensor.shape, dtype=tensor.dtype, device=self._device)
        with torch.no_grad():
            return tensor.copy_(function(drawn, *arguments, **kwargs))

    def __torch_function__(self, function, types, args=(), kwargs=None):
        kwargs = dict(kwargs or {})
        tensor = args[0] if args else kwargs.get('tensor')
        if not self._is_faster(function, tensor, kwargs):
            return function(*args, **kwargs)
        kwargs.pop('tensor', None)
        return self._draw(function, tensor, args[1:], kwargs)
