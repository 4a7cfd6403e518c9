#include "runner/suite/registry.h"

#include <algorithm>

namespace torchwatch::suite {

std::vector<Model> const& models() {
#define TORCHWATCH_ROW(name, domain, task, train, eval, smoke_train, smoke_eval) \
  Model{#name, #domain, #task, {train, eval}, {smoke_train, smoke_eval}, &make_##name},
  static std::vector<Model> const all{TORCHWATCH_MODELS(TORCHWATCH_ROW)};
#undef TORCHWATCH_ROW
  return all;
}

Model const* find_model(std::string_view name) {
  auto const found = std::find_if(
      models().begin(), models().end(), [name](Model const& model) { return model.name == name; });
  return found == models().end() ? nullptr : &*found;
}

std::unique_ptr<Workload> make_workload(
    Model const& model, Test test, Scale scale, torch::Device device, std::int64_t seed) {
  torch::manual_seed(static_cast<std::uint64_t>(seed));
  Batch const& batch = scale == Scale::full ? model.full : model.smoke;
  return model.make({test, scale, test == Test::train ? batch.train : batch.eval, device});
}

}  // namespace torchwatch::suite
