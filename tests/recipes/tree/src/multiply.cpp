#include <torch/torch.h>

int multiply(int a, int b) {
  return a * b + SELECTED;
}
