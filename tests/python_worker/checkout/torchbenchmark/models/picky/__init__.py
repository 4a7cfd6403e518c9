"""A model whose forward pass throws NotImplementedError, a defect and no missing support."""
from ...util.model import BenchmarkModel


class Model(BenchmarkModel):
    DEFAULT_EVAL_BSIZE = 2

    def eval(self):
        raise NotImplementedError('this is a defect')
