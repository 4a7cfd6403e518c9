#include "runner/worker/job.h"

#include <algorithm>
#include <optional>
#include <string>

#include "runner/worker/gpu.h"

namespace torchwatch::worker {
namespace {

struct Name {
  std::string test, model, device, backend;
};

/// The parts of "test_<test>[<model>-<device>-<backend>]"; nothing when `text` is not of that form.
std::optional<Name> parse_name(std::string const& text) {
  std::string const prefix = "test_";
  auto const open = text.find('[');
  if (text.rfind(prefix, 0) != 0 || open == std::string::npos || text.back() != ']') return {};
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
}

}  // namespace

Target resolve(protocol::Job const& job) {
  auto const name = parse_name(job.benchmark);
  if (!name) refuse(job, "name", job.benchmark, "expected test_<test>[<model>-<device>-<backend>]");

  auto const& [test, model, device, backend] = *name;
  Target target;
  target.model = suite::find_model(model);
  if (target.model == nullptr) refuse(job, "model", model, "torchwatch-worker --list tells which");
  if (test != "train" && test != "eval") refuse(job, "test", test, "train or eval");
  if (backend != "eager") refuse(job, "backend", backend, "eager");
  if (device != "cpu" && device != "cuda") refuse(job, "device", device, "cpu or cuda");
  if (device == "cuda" && !gpu::is_available())
    refuse(job, "device", device, "this build or this host has none");
  if (job.measure.scale != "full" && job.measure.scale != "smoke")
    refuse(job, "scale", job.measure.scale, "full or smoke");
  check_counts(job);

  target.test = test == "train" ? suite::Test::train : suite::Test::eval;
  target.scale = job.measure.scale == "full" ? suite::Scale::full : suite::Scale::smoke;
  if (suite::batch_of(*target.model, target.test, target.scale) == 0)
    refuse(job, "test", test, model + " has no such test");
  if (device == "cuda") target.device = torch::Device(torch::kCUDA, 0);
  return target;
}

std::unique_ptr<suite::Workload> build(Target const& target, protocol::Job const& job) {
  auto const batch = suite::batch_of(*target.model, target.test, target.scale);
  suite::Setup const setup{target.test, target.scale, batch, target.device};
  return suite::make_workload(*target.model, setup, job.measure.seed);
}

}  // namespace torchwatch::worker
