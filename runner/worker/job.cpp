#include "runner/worker/job.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runner/suite/described.h"
#include "runner/suite/registry.h"
#include "runner/worker/failure.h"

namespace torchwatch::worker {
namespace {

struct Name {
  std::string test, model, device, backend;
};

/// Reads the parts of "test_<test>[<model>-<device>-<backend>]". Nothing for any other form.
std::optional<Name> parse_name(std::string const& text) {
  std::string const prefix = "test_";
  auto const open = text.find('[');
  if (!text.starts_with(prefix) || open == std::string::npos || text.back() != ']') return {};
  auto const inside = text.substr(open + 1, text.size() - open - 2);
  auto const first = inside.find('-');
  auto const last = inside.rfind('-');
  if (std::count(inside.begin(), inside.end(), '-') != 2) return {};
  return Name{text.substr(prefix.size(), open - prefix.size()),
              inside.substr(0, first),
              inside.substr(first + 1, last - first - 1),
              inside.substr(last + 1)};
}

[[noreturn]] void refuse(protocol::Job const& job,
                         std::string const& what,
                         std::string const& found,
                         std::string const& allowed) {
  throw Unsupported(job.benchmark + ": " + what + " \"" + found + "\" is not supported; " +
                    allowed);
}

void check_counts(protocol::Job const& job) {
  auto const& measure = job.measure;
  auto const at_least = [&job](std::string const& what, int found, int least) {
    if (found < least)
      refuse(job, what, std::to_string(found), "at least " + std::to_string(least));
  };
  at_least("runs", measure.runs, 1);
  at_least("warmup", measure.warmup, 1);
  at_least("threads", measure.threads, 1);
  at_least("leak_iterations", measure.leak_iterations, 8);
  if (measure.batch < 0) refuse(job, "batch", std::to_string(measure.batch), "0 or more");
}

/// Returns the value for `word`, one of a few words. Throws Unsupported for any other word.
template <class Value>
Value choose(protocol::Job const& job,
             std::string const& what,
             std::string const& word,
             std::vector<std::pair<std::string, Value>> const& values) {
  std::string allowed;
  for (auto const& [name, value] : values) {
    if (name == word) return value;
    allowed += (allowed.empty() ? "" : ", ") + name;
  }
  refuse(job, what, word, "one of " + allowed);
}

Device* device_of(protocol::Job const& job, Name const& name, Devices const& devices) {
  if (name.device != "cpu" && name.device != "cuda")
    refuse(job, "device", name.device, "one of cpu, cuda");
  auto const found = devices.by_name.find(name.device);
  if (found != devices.by_name.end()) return found->second.get();
  if (devices.wants_a_gpu)
    throw NoDevice(job.benchmark + ": there is no GPU; " + devices.why_no_gpu);
  refuse(job, "device", name.device, devices.why_no_gpu);
}

suite::Setup setup_of(protocol::Job const& job, Name const& name, Device const& device) {
  suite::Setup setup;
  setup.device = device.place();
  setup.test = choose<suite::Test>(
      job, "test", name.test, {{"train", suite::Test::train}, {"eval", suite::Test::eval}});
  setup.scale =
      choose<suite::Scale>(job,
                           "scale",
                           job.measure.scale,
                           {{"full", suite::Scale::full}, {"smoke", suite::Scale::smoke}});
  using suite::Precision;
  setup.precision = choose<Precision>(job,
                                      "precision",
                                      job.measure.precision,
                                      {{"fp32", Precision::fp32},
                                       {"fp16", Precision::fp16},
                                       {"bf16", Precision::bf16},
                                       {"amp", Precision::amp}});
  return setup;
}

Tf32 tf32_of(protocol::Job const& job) {
  return choose<Tf32>(
      job,
      "tf32",
      job.measure.tf32,
      {{"default", Tf32::as_pytorch}, {"on", Tf32::allowed}, {"off", Tf32::forbidden}});
}

/// Returns the job's batch, or the model's own. Throws Unsupported when the model's own is 0.
std::int64_t batch_for(protocol::Job const& job, Name const& name, std::int64_t own) {
  if (own == 0) refuse(job, "test", name.test, name.model + " has no such test");
  return job.measure.batch > 0 ? job.measure.batch : own;
}

Target target_in_suite(protocol::Job const& job, Name const& name, Device* device) {
  auto const* const model = suite::find_model(name.model);
  if (model == nullptr) refuse(job, "model", name.model, suite::why_missing(name.model));
  Target target{setup_of(job, name, *device), model->make, device, tf32_of(job)};
  auto const own = suite::batch_of(*model, target.setup.test, target.setup.scale);
  target.setup.batch = batch_for(job, name, own);
  return target;
}

using FileFactory = std::unique_ptr<suite::Workload>(std::string const& file,
                                                     suite::ModelDescription const& description,
                                                     suite::Setup const& setup);

Target target_in_file(protocol::Job const& job,
                      Name const& name,
                      Device* device,
                      std::string const& ending,
                      FileFactory* make) {
  if (job.measure.models.empty())
    refuse(job, "backend", name.backend, "it needs a directory of models");
  auto const base = job.measure.models + "/" + name.model;
  auto description = suite::read_description(base + ".json");
  Target target;
  target.setup = setup_of(job, name, *device);
  target.device = device;
  target.tf32 = tf32_of(job);
  bool const trains = target.setup.test == suite::Test::train;
  target.setup.batch =
      batch_for(job, name, trains ? description.batch.train : description.batch.eval);
  target.make = [file = base + ending, description = std::move(description), make](
                    suite::Setup const& setup) {
    return make(file, description, setup);
  };
  return target;
}

}  // namespace

Target resolve(protocol::Job const& job, Devices const& devices) {
  auto const name = parse_name(job.benchmark);
  if (!name) refuse(job, "name", job.benchmark, "expected test_<test>[<model>-<device>-<backend>]");
  check_counts(job);
  auto* const device = device_of(job, *name, devices);
  if (name->backend == "eager") return target_in_suite(job, *name, device);
  if (name->backend == "script")
    return target_in_file(job, *name, device, ".pt", &suite::make_script);
  if (name->backend == "aoti" && suite::has_aoti()) {
    if (name->test != "eval") refuse(job, "test", name->test, "packages of aoti support only eval");
    return target_in_file(job, *name, device, ".pt2", &suite::make_aoti);
  }
  refuse(job,
         "backend",
         name->backend,
         suite::has_aoti() ? "eager, script or aoti" : "eager or script with this LibTorch");
}

std::unique_ptr<suite::Workload> build(Target const& target, protocol::Job const& job) {
  return suite::make_workload(target.make, target.setup, job.measure.seed);
}

}  // namespace torchwatch::worker
