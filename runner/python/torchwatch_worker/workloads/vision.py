"""Image classifiers of torchvision, without downloaded weights: torchvision.resnet50."""
import torch

from torchwatch_worker.failures import Unsupported
from torchwatch_worker.workloads.supervised import Supervised, classify

CLASSES = 1000
LARGER = {'inception_v3': 299}  # sides of images, 224 for the others


def names():
    """Returns the classifiers of the installed torchvision; none when there is none."""
    try:
        from torchvision import models
    except Exception:  # also one that does not fit torch
        return []
    return sorted(name for name, make in vars(models).items()
                  if name.islower() and callable(make) and getattr(make, '__module__', '').startswith(models.__name__)
                  and 'weights' in getattr(make, '__annotations__', {}))


class Source:
    """A function of torchvision.models."""

    def __init__(self, setup, name):
        self._setup = setup
        self._name = name
        self._make = None

    def load(self):
        """Imports torchvision."""
        try:
            from torchvision import models
        except Exception as problem:  # a torchvision of another build of torch throws RuntimeError
            raise Unsupported(f'torchvision cannot be imported: {type(problem).__name__}: {problem}') from problem
        self._make = getattr(models, self._name, None)
        if not callable(self._make) or not self._name.islower():
            raise Unsupported(f'model "torchvision.{self._name}" is not supported; torchvision.models has no '
                              f'"{self._name}"')

    def build(self):
        """Returns the workload. Extra outputs of a training network do not count towards the loss."""
        batch, side = self._setup.batch(32, 2), LARGER.get(self._name, self._setup.pick(224, 64))
        loss = classify(self._setup, CLASSES, batch)
        return Supervised(self._setup, self._make(weights=None), (torch.randn(batch, 3, side, side),),
                          lambda output: loss(getattr(output, 'logits', output)))
