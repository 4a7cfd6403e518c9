// Prints what it was compiled with.
#include <cstdio>

#include <torch/torch.h>
#if CUDA
#include <cuda_runtime_api.h>
#endif

#ifdef USE_DISTRIBUTED
constexpr int distributed = 1;
#else
constexpr int distributed = 0;
#endif

int main() {
  std::printf("ABI %d, distributed %d, torch %d", _GLIBCXX_USE_CXX11_ABI, distributed, torch());
#if CUDA
  std::printf(", headers %d, crt %d, runtime %d", CUDART_VERSION, CRT, cudart());
#if __has_include(<of_compilers.h>)
  std::printf(", all of the toolkit");
#endif
#endif
  std::printf("\n");
}
