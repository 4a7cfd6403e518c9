"""A model that needs weights that are not there."""
import urllib.error

from ...util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_EVAL_BSIZE = 2

    def __init__(self, test, device, batch_size=None, extra_args=()):
        super().__init__(test, device, batch_size, extra_args)
        raise urllib.error.URLError('Name or service not known')
