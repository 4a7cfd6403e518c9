"""A model file that finds too little memory of the device."""


def make(setup):
    raise RuntimeError('CUDA out of memory. Tried to allocate 20.00 GiB\nException raised from malloc\nframe #0')
