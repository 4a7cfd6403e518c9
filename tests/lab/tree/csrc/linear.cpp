#include "kernels.h"

#include <ATen/ops/addmm_cpu_dispatch.h>
#include <ATen/ops/bmm_cpu_dispatch.h>
#include <ATen/ops/mm_cpu_dispatch.h>

namespace lab {

namespace {

// The stock kernels report a wrong number of dimensions deep inside of the shape functions.
void check_matrix(const Tensor& tensor, const char* name) {
  TORCH_CHECK(tensor.dim() == 2, name, " must be a matrix, but it has ", tensor.dim(),
              " dimensions");
}

// The inner sizes have to agree before BLAS sees them.
void check_inner_size(int64_t left, int64_t right) {
  TORCH_CHECK(left == right, "inner sizes differ: ", left, " and ", right);
}

}  // namespace

// self * beta + mat1 @ mat2 * alpha
Tensor addmm(const Tensor& self, const Tensor& mat1, const Tensor& mat2, const Scalar& beta,
             const Scalar& alpha) {
  check_matrix(mat1, "mat1");
  check_matrix(mat2, "mat2");
  check_inner_size(mat1.size(1), mat2.size(0));

  return at::cpu::addmm(self, mat1, mat2, beta, alpha);
}

// self @ mat2
Tensor mm(const Tensor& self, const Tensor& mat2) {
  check_matrix(self, "self");
  check_matrix(mat2, "mat2");
  check_inner_size(self.size(1), mat2.size(0));

  return at::cpu::mm(self, mat2);
}

// self[i] @ mat2[i] for every i
Tensor bmm(const Tensor& self, const Tensor& mat2) {
  TORCH_CHECK(self.dim() == 3, "self must be a batch of matrices, but it has ", self.dim(),
              " dimensions");
  TORCH_CHECK(mat2.dim() == 3, "mat2 must be a batch of matrices, but it has ", mat2.dim(),
              " dimensions");
  check_inner_size(self.size(2), mat2.size(1));
  return at::cpu::bmm(self, mat2);
}

}  // namespace lab
