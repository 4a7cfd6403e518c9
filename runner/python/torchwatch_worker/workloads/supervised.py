"""A network with inputs and, for training, a loss and an optimizer."""
import contextlib

import torch

from torchwatch_worker import compiling

RATE = 1e-4


def _autocast(setup):
    if setup.measure.precision != 'amp':
        return contextlib.nullcontext()
    return torch.autocast(setup.device, torch.bfloat16 if setup.device == 'cpu' else torch.float16)


def place(thing, setup):
    """Returns tensors, also in lists, tuples and dictionaries, on the job's device in its precision."""
    if isinstance(thing, torch.Tensor):
        return thing.to(setup.device, setup.dtype if thing.is_floating_point() else None)
    if isinstance(thing, dict):
        return {name: place(value, setup) for name, value in thing.items()}
    if isinstance(thing, (list, tuple)):
        return type(thing)(place(value, setup) for value in thing)
    return thing


class Supervised:
    """`inputs`: a tuple or dictionary of arguments. `loss`: a function of the output, for training. For inference the
    network is compiled, for training the forward pass with the loss. The optimizer is not compiled."""

    def __init__(self, setup, network, inputs, loss):
        self._setup = setup
        self._network = network.to(device=setup.device, dtype=setup.dtype).train(setup.trains)
        self._inputs = place(inputs, setup)
        self._loss = loss
        self._optimizer = torch.optim.Adam(self._network.parameters(), lr=RATE) if setup.trains else None
        self._called = self._network
        self._inner = self._forward_and_loss if setup.trains else self._forward

    def _forward(self):
        with _autocast(self._setup):
            if isinstance(self._inputs, dict):
                return self._called(**self._inputs)
            return self._called(*self._inputs)

    def _forward_and_loss(self):
        return self._loss(self._forward()).float()

    def compile(self, compiler):
        """Has later steps run compiled code. A graph break within the network would count once more in a function
        that calls it, so inference compiles the network alone."""
        if self._setup.trains:
            self._inner = compiler(self._forward_and_loss)
        else:
            self._called = compiler(self._network)

    def step(self):
        """Runs one iteration: inference, or a training step."""
        compiling.mark_step(self._setup.backend)
        if not self._setup.trains:
            with torch.no_grad():
                self._inner()
            return
        self._optimizer.zero_grad(set_to_none=True)
        self._inner().backward()
        self._optimizer.step()


class Function:
    """An operator's function that runs one iteration by itself."""

    def __init__(self, setup, function):
        self._setup = setup
        self._inner = self._source = function

    def compile(self, compiler):
        """Has later steps run what `compiler` makes of the function."""
        self._inner = compiler(self._source)

    def step(self):
        """Runs one iteration."""
        compiling.mark_step(self._setup.backend)
        with torch.set_grad_enabled(self._setup.trains):
            self._inner()


def classify(setup, classes, batch):
    """Returns a loss that compares the output with drawn labels."""
    labels = torch.randint(0, classes, (batch,)).to(setup.device)
    return lambda output: torch.nn.functional.cross_entropy(output.float(), labels)
