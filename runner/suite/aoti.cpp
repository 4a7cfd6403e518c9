#include "runner/suite/compatibility.h"
#include "runner/suite/described.h"
#include "runner/suite/supervised.h"

namespace torchwatch::suite {

#if TORCHWATCH_AOTI

bool has_aoti() {
  return true;
}

namespace {

/// Loads a package. Errors begin with the name of the file.
std::shared_ptr<torch::inductor::AOTIModelPackageLoader> load_package(std::string const& file) {
  try {
    return std::make_shared<torch::inductor::AOTIModelPackageLoader>(file);
  } catch (std::exception const& problem) {
    TORCH_CHECK(false, file, ": ", problem.what());
  }
}

/// Throws when the package is compiled for another device. It would crash with tensors of this one.
void check_device(torch::inductor::AOTIModelPackageLoader& package,
                  std::string const& file,
                  torch::Device const& device) {
  auto const metadata = package.get_metadata();
  auto const key = metadata.find("AOTI_DEVICE_KEY");
  std::string const wanted = c10::DeviceTypeName(device.type(), true);
  TORCH_CHECK(key == metadata.end() || key->second == wanted,
              file,
              ": found a package for ",
              key->second,
              ", must be for ",
              wanted);
}

}  // namespace

std::unique_ptr<Workload> make_aoti(std::string const& file,
                                    ModelDescription const& description,
                                    Setup const& setup) {
  auto const package = load_package(file);
  check_device(*package, file, setup.device);
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
