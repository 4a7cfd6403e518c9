#include "runner/suite/compatibility.h"
#include "runner/suite/described.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {

#if TORCHWATCH_AOTI

bool has_aoti() {
  return true;
}

std::unique_ptr<Workload> make_aoti(std::string const& file,
                                    ModelDescription const& description,
                                    Setup const& setup) {
  auto const package = std::make_shared<torch::inductor::AOTIModelPackageLoader>(file);
  Supervised parts;
  parts.network = std::make_shared<torch::nn::Module>();
  parts.forward = [package, inputs = draw(description.inputs, setup)]() mutable {
    return package->run(inputs);
  };
  return make_supervised(setup.test, std::move(parts));
}

#else

bool has_aoti() {
  return false;
}

std::unique_ptr<Workload> make_aoti(std::string const&, ModelDescription const&, Setup const&) {
  TORCH_CHECK(false, "this LibTorch runs no AOTInductor packages");
}

#endif

}  // namespace torchwatch::suite
