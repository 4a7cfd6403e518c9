#!/bin/sh
# Measures the time to import torch. Metric: import_time in ms, lower is better.
set -eu
python3 -c 'import torch' # the first import reads the files
for run in 1 2 3 4 5; do
  start=$(date +%s%N)
  python3 -c 'import torch'
  end=$(date +%s%N)
  echo "{\"import_time\": $(((end - start) / 1000000)).$(printf %06d $(((end - start) % 1000000)))}"
done
