"""A checkout in the layout of TorchBench, with small models. Only what models of TorchBench use is here."""
