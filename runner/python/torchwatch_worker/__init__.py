"""The parts of torchwatch-python-worker. Nothing here imports torch before serve.py does."""
