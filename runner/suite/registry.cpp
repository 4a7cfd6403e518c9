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

std::int64_t batch_of(Model const& model, Test test, Scale scale) {
  Batch const& batch = scale == Scale::full ? model.full : model.smoke;
  return test == Test::train ? batch.train : batch.eval;
}

std::unique_ptr<Workload> make_workload(Model const& model, Setup const& setup, std::int64_t seed) {
  torch::manual_seed(static_cast<std::uint64_t>(seed));
  return model.make(setup);
}

}  // namespace torchwatch::suite
