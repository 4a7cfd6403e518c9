#include <torch/torch.h>

char const* version() {
  return TORCH_VERSION;
}
