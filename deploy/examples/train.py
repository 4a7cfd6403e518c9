"""Trains a transformer layer. Metric: tokens_per_s in 1/s, higher is better. It waits: "waits": true."""
import json, os, sys, time
import torch

torch.set_num_threads(int(os.environ['TORCHWATCH_THREADS']))
torch.manual_seed(int(os.environ['TORCHWATCH_SEED']))
model = torch.nn.TransformerEncoderLayer(256, 4, 1024, batch_first=True)
optimizer = torch.optim.AdamW(model.parameters())
data = torch.randn(16, 128, 256)

def train(steps):
    start = time.perf_counter()
    for _ in range(steps):
        optimizer.zero_grad(); model(data).square().mean().backward(); optimizer.step()
    return steps * 16 * 128 / (time.perf_counter() - start)

train(3)  # warms up
for line in sys.stdin:  # one line for each run; the loop ends with the input
    print(json.dumps({'tokens_per_s': train(10)}), flush=True)
