#include "runner/worker/introspect.h"

#include <set>

#include "runner/worker/dispatched.h"
#include "runner/worker/host.h"

namespace torchwatch::worker {
namespace {

using nlohmann::json;
using suite::Scale;
using suite::Test;

constexpr std::int64_t seed = 1337;

std::unique_ptr<suite::Workload> make(suite::Model const& model, Test test, Scale scale) {
  suite::Setup const setup{test, scale, suite::batch_of(model, test, scale)};
  return suite::make_workload(model.make, setup, seed);
}

/// Returns the network at full scale, for training if the model has that test. The batch is that of
/// smoke scale, because no iteration runs.
std::shared_ptr<torch::nn::Module> full_network(suite::Model const& model) {
  suite::Setup setup;
  setup.test = model.full.train > 0 ? Test::train : Test::eval;
  setup.batch = setup.test == Test::train ? model.smoke.train : model.smoke.eval;
  return suite::make_workload(model.make, setup, seed)->network();
}

json describe(torch::OrderedDict<std::string, torch::Tensor> const& tensors) {
  auto list = json::array();
  for (auto const& tensor : tensors)
    list.push_back({{"name", tensor.key()},
                    {"shape", tensor->sizes().vec()},
                    {"type", c10::toString(tensor->scalar_type())}});
  return list;
}

json operators_of(suite::Model const& model) {
  std::set<std::string> called;
  std::set<std::string> called_in_turn;
  auto waits = json::object();
  for (auto const test : {Test::train, Test::eval}) {
    if (suite::batch_of(model, test, Scale::smoke) == 0) continue;
    auto const workload = make(model, test, Scale::smoke);
    Dispatched const dispatched;
    workload->step();
    called.merge(dispatched.called());
    called_in_turn.merge(dispatched.called_in_turn());
    waits[test == Test::train ? "train" : "eval"] = dispatched.waits();
  }
  return {{"called", called}, {"called_in_turn", called_in_turn}, {"waits", std::move(waits)}};
}

}  // namespace

json describe_parameters(suite::Model const& model) {
  auto const network = full_network(model);
  json description;
  description["model"] = model.name;
  description["parameters"] = describe(network->named_parameters());
  description["buffers"] = describe(network->named_buffers());
  return description;
}

json cover(ModelListener const& listener) {
  auto models = json::object();
  int done = 0;
  for (auto const& model : suite::models()) {
    listener(std::string(model.name), done++, static_cast<int>(suite::models().size()));
    models[std::string(model.name)] = operators_of(model);
  }
  return {{"pytorch_version", pytorch_version()}, {"models", std::move(models)}};
}

}  // namespace torchwatch::worker
