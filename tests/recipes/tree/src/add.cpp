#include <torch/torch.h>

int add(int a, int b) {
  return a + b;
}
