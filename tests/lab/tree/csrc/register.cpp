#include <torch/library.h>

#include "kernels.h"
#include "quiet_warnings.h"

// The order follows kernels.h.
TORCH_LIBRARY_IMPL(aten, CPU, library) {
  // The dispatcher warns about each kernel that is replaced, and replacing is what this library is for.
  lab::QuietWarnings quiet;

  library.impl("mkldnn_convolution", lab::convolution);

  library.impl("addmm", lab::addmm);
  library.impl("mm", lab::mm);
  library.impl("bmm", lab::bmm);

  library.impl("relu", lab::relu);
  library.impl("sigmoid", lab::sigmoid);
  library.impl("tanh", lab::tanh);
  library.impl("gelu", lab::gelu);

  library.impl("_embedding_bag", lab::embedding_bag);
  library.impl("embedding_dense_backward", lab::embedding_dense_backward);

  library.impl("native_batch_norm", lab::batch_norm);
  library.impl("native_layer_norm", lab::layer_norm);
  library.impl("_softmax", lab::softmax);
}

TORCH_LIBRARY_IMPL(aten, QuantizedCPU, library) {
  lab::QuietWarnings quiet;

  library.impl("_empty_affine_quantized", lab::empty_affine_quantized);
}
