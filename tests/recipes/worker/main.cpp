#include <cstdio>

#include <torch/torch.h>

int main() {
  std::printf("%s %d %d %d %d\n", version(), add(2, 3), multiply(2, 3), operators(), part());
}
