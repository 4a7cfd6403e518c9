#include "runner/suite/registry.h"

#include <algorithm>
#include <utility>

#include "runner/suite/autocast.h"

namespace torchwatch::suite {

// CMake writes models.inc: a line per model, with the namespace of its file
#define MODEL(file, name) \
  namespace file {        \
  Factory make_##name;    \
  }
#include "models.inc"
#undef MODEL

namespace {

/// Returns the function that builds a model; null when the worker is built without it.
Factory* factory_of([[maybe_unused]] std::string_view name) {
#define MODEL(file, model) \
  if (name == #model) return &file::make_##model;
#include "models.inc"
#undef MODEL
  return nullptr;
}

/// Runs another workload in automatic mixed precision.
class Autocasting final : public Workload {
 public:
  Autocasting(std::unique_ptr<Workload> workload, torch::DeviceType device)
      : workload_(std::move(workload)),
        device_(device) {}

  void step() override {
    Autocast const autocast(device_);
    workload_->step();
  }

  std::vector<torch::Tensor> results() const override { return workload_->results(); }

  std::shared_ptr<torch::nn::Module> network() const override { return workload_->network(); }

  std::vector<torch::Tensor> inputs() const override { return workload_->inputs(); }

 private:
  std::unique_ptr<Workload> workload_;
  torch::DeviceType device_;
};

}  // namespace

std::vector<Model> const& models() {
  static auto const all = [] {
    std::vector<Model> models;
    for (auto const& entry : catalogue())
      if (auto* const make = factory_of(entry.name)) models.push_back({entry, make});
    return models;
  }();
  return all;
}

Model const* find_model(std::string_view name) {
  auto const found = std::find_if(
      models().begin(), models().end(), [name](Model const& model) { return model.name == name; });
  return found == models().end() ? nullptr : &*found;
}

std::string why_missing(std::string_view name) {
  return find_entry(name) != nullptr ? "this worker was built without it"
                                     : "torchwatch suite list shows all models";
}

std::int64_t batch_of(Model const& model, Test test, Scale scale) {
  Batch const& batch = scale == Scale::full ? model.full : model.smoke;
  return test == Test::train ? batch.train : batch.eval;
}

std::unique_ptr<Workload> make_workload(std::function<Factory> const& make,
                                        Setup const& setup,
                                        std::int64_t seed) {
  torch::manual_seed(static_cast<std::uint64_t>(seed));
  auto workload = make(setup);
  if (setup.precision != Precision::amp) return workload;
  return std::make_unique<Autocasting>(std::move(workload), setup.device.type());
}

}  // namespace torchwatch::suite
