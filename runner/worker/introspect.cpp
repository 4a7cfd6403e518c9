#include "runner/worker/introspect.h"

#include <set>

#include "runner/worker/counting_allocator.h"
#include "runner/worker/host.h"
#include "runner/worker/operator_profile.h"

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

/// With everything that is trained, if anything is; at full scale with the smallest batch, since
/// nobody is going to iterate.
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

/// Whether `name` is an operator's or a backward node's, not one of the engine's own steps.
bool is_operator(std::string const& name) {
  for (std::string const prefix : {"autograd::", "torch::autograd::"})
    if (name.compare(0, prefix.size(), prefix) == 0) return false;
  return name.find("::") != std::string::npos || name.find("Backward") != std::string::npos;
}

std::set<std::string> operators_of(suite::Model const& model) {
  std::set<std::string> names;
  for (auto const test : {Test::train, Test::eval}) {
    if (suite::batch_of(model, test, Scale::smoke) == 0) continue;
    auto const workload = make(model, test, Scale::smoke);
    AllocationCount const count;
    OperatorProfile const profile(count);
    workload->step();
    for (auto const& cost : profile.costs(1))
      if (is_operator(cost.name)) names.insert(cost.name);
  }
  return names;
}

}  // namespace

json list_models() {
  auto list = json::array();
  for (auto const& model : suite::models()) {
    json entry;
    entry["name"] = model.name;
    entry["domain"] = model.domain;
    entry["task"] = model.task;
    entry["batch"]["full"] = {{"train", model.full.train}, {"eval", model.full.eval}};
    entry["batch"]["smoke"] = {{"train", model.smoke.train}, {"eval", model.smoke.eval}};
    list.push_back(std::move(entry));
  }
  return list;
}

json size_models(ModelListener const& listener) {
  auto list = list_models();
  int done = 0;
  for (auto& entry : list) {
    auto const name = entry.at("name").get<std::string>();
    listener(name, done++, static_cast<int>(list.size()));
    std::int64_t count = 0;
    for (auto const& parameter : full_network(*suite::find_model(name))->parameters())
      count += parameter.numel();
    entry["parameters"] = count;
  }
  return list;
}

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
