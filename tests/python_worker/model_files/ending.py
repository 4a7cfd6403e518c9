"""A model file that ends the process."""


def make(setup):
    raise SystemExit(3)
