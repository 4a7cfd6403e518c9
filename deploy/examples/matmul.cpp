// Multiplies matrices in C++. Metric: gflops, higher is better. It waits: "waits": true. To compile it, in its command:
//   P=$TORCHWATCH_PREFIX; c++ -std=c++20 -O2 matmul.cpp -o matmul -I$P/include -I$P/include/torch/csrc/api/include \
//     -L$P/lib -Wl,-rpath,$P/lib -Wl,--no-as-needed -ltorch -ltorch_cpu -lc10 && exec ./matmul
#include <chrono>
#include <iostream>
#include <torch/torch.h>

int main() {
  constexpr int size = 512, products = 20;
  auto const factor = torch::randn({size, size});
  torch::mm(factor, factor);  // warms up
  for (std::string line; std::getline(std::cin, line);) {  // one line for each run
    auto const start = std::chrono::steady_clock::now();
    for (int i = 0; i < products; ++i)
      torch::mm(factor, factor);
    std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
    std::cout << "{\"gflops\": " << products * 2e-9 * size * size * size / seconds.count() << "}" << std::endl;
  }
}
