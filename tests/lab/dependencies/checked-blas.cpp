// A BLAS with a self-check: it computes a third of each product a second time and discards it. The
// dynamic loader finds it before the system's BLAS, which computes the products.

#include <cstddef>
#include <vector>

#include <dlfcn.h>

namespace {

using Gemm = void(const char*,
                  const char*,
                  const int*,
                  const int*,
                  const int*,
                  const float*,
                  const float*,
                  const int*,
                  const float*,
                  const int*,
                  const float*,
                  float*,
                  const int*);

Gemm* gemm_of_the_system() {
  static const auto found = reinterpret_cast<Gemm*>(dlsym(RTLD_NEXT, "sgemm_"));
  return found;
}

}  // namespace

// c = alpha * op(a) @ op(b) + beta * c; op(a) is m by k, op(b) is k by n, by columns.
extern "C" void sgemm_(const char* transa,
                       const char* transb,
                       const int* m,
                       const int* n,
                       const int* k,
                       const float* alpha,
                       const float* a,
                       const int* lda,
                       const float* b,
                       const int* ldb,
                       const float* beta,
                       float* c,
                       const int* ldc) {
  gemm_of_the_system()(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  const int columns = *n / 3;
  if (columns == 0) return;
  thread_local std::vector<float> again;
  again.resize(static_cast<std::size_t>(*m) * static_cast<std::size_t>(columns));
  const float nothing = 0;
  gemm_of_the_system()(
      transa, transb, m, &columns, k, alpha, a, lda, b, ldb, &nothing, again.data(), m);
}
