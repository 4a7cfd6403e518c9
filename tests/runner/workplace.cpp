#include "workplace.h"

#include <fstream>
#include <stdexcept>

#include "run.h"
#include <stdlib.h>

namespace torchwatch::tests {

Workplace::Workplace(std::filesystem::path const& parent) {
  prefix_ = (parent / "runner-tests-XXXXXX").string();
  if (::mkdtemp(prefix_.data()) == nullptr) throw std::runtime_error("cannot make " + prefix_);
  auto benchmarks = nlohmann::json::object();
  for (auto const* const behaviour :
       {"ok",       "crash",       "exit",       "silent_exit", "hang",     "hog",
        "fork_hog", "garbage",     "binary",     "huge_line",   "wrong_id", "two_answers",
        "deep",     "long_text",   "no_metrics", "negative",    "other",    "many",
        "flood",    "unsupported", "mute"}) {
    benchmarks[benchmark_of(behaviour)] = {{"behave", behaviour}, {"latency", 20.0}};
  }
  std::ofstream{prefix_ + "/script.json"} << nlohmann::json{{"benchmarks", benchmarks}};
}

Workplace::~Workplace() {
  std::error_code ignored;
  std::filesystem::remove_all(prefix_, ignored);
}

protocol::Job Workplace::job(std::string const& behaviour) const {
  protocol::Job job;
  job.id = behaviour;
  job.benchmark = benchmark_of(behaviour);
  job.build.prefix = prefix_;
  job.build.worker = SCRIPTED_WORKER;
  job.limits.timeout_s = 15;
  job.limits.memory_bytes = std::int64_t{256} << 20;
  return job;
}

void Workplace::write_program(std::string const& name, std::string const& script) const {
  auto const path = prefix_ + '/' + name;
  std::ofstream{path} << "#!/bin/sh\n" << script << '\n';
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
}

process::Isolation best_isolation(boost::asio::io_context& loop) {
  return run(loop, process::find_isolation(loop.get_executor())).value();
}

std::string benchmark_of(std::string const& behaviour) {
  return "test_eval[" + behaviour + "-cpu-eager]";
}

}  // namespace torchwatch::tests
