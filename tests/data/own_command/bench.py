"""Classifies images with a small convolutional network. Metrics: images_per_s in 1/s (higher is better), ttft in ms."""
import argparse
import json
import os
import sys
import time

import torch

parser = argparse.ArgumentParser()
parser.add_argument('--model', required=True, choices=['convnet'])
parser.add_argument('--waits', action='store_true', help='measure one run for each line of the input')
arguments = parser.parse_args()
torch.set_num_threads(int(os.environ['TORCHWATCH_THREADS']))
torch.manual_seed(int(os.environ['TORCHWATCH_SEED']))
network = torch.nn.Sequential(
    torch.nn.Conv2d(3, 32, 5), torch.nn.ReLU(), torch.nn.Conv2d(32, 32, 5), torch.nn.AdaptiveAvgPool2d(1)).eval()
images = torch.randn(12, 3, 32, 32)


@torch.no_grad()
def measure():
    start = time.perf_counter()
    network(images)
    first = time.perf_counter()
    for _ in range(5):
        network(images)
    return {'images_per_s': 6 * len(images) / (time.perf_counter() - start), 'ttft': (first - start) * 1000}


measure()  # warms up
for _ in sys.stdin if arguments.waits else range(10):
    print(json.dumps(measure()), flush=True)
