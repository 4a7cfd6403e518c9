#include "runner/worker/serve.h"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <istream>
#include <sstream>
#include <stdexcept>
#include <string>

#include <ATen/Parallel.h>
#include <dlfcn.h>

#include "runner/protocol.h"
#include "runner/worker/conversation.h"
#include "runner/worker/failure.h"
#include "runner/worker/host.h"
#include "runner/worker/measure.h"

namespace torchwatch::worker {
namespace {

using protocol::Message;

protocol::Hello hello(Devices const& devices) {
  protocol::Hello hello;
  hello.role = "worker";
  hello.pytorch_version = pytorch_version();
  hello.git_hash = git_hash();
  for (auto const& [name, device] : devices.by_name)
    hello.devices.push_back(name);
  hello.fingerprint = fingerprint(devices);
  return hello;
}

/// True when `library` is loaded. Does not load it.
bool is_here(std::string const& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

/// Returns an error for the first library in `names`, the value of LD_PRELOAD, that is not loaded;
/// empty when all are. The dynamic linker only warns on standard error about libraries that it
/// cannot load (ld.so(8), LD_PRELOAD).
std::string why_not_preloaded(std::string names) {
  std::ranges::replace(names, ':', ' ');
  std::istringstream stream(names);
  for (std::string library; stream >> library;)
    if (!is_here(library))
      return library +
             " could not be preloaded; it must fit this host, and be in the build, in /usr or in "
             "a path of the fleet's `readable`";
  return "";
}

/// Throws when a library could not be preloaded. Without it, this is not the build to measure.
void require_preloaded() {
  auto const* const names = std::getenv("LD_PRELOAD");
  auto const why = names == nullptr ? std::string() : why_not_preloaded(names);
  if (!why.empty()) throw std::runtime_error(why);
}

Message run(protocol::Job const& job, Devices const& devices, std::istream& input) {
  auto const listener = [&job](std::string const& phase, int done, int total) {
    send(protocol::Progress{job.id, phase, done, total});
  };
  auto const semaphore = [&job, &input] {
    wait_for_turn(job, input);
  };
  try {
    require_preloaded();
    return measure(job, devices, listener, semaphore);
  } catch (std::exception const& problem) {
    return failure_of(job, problem);
  }
}

}  // namespace

void serve(std::istream& jobs, Devices const& devices) {
  keep_freed_memory();
  at::set_num_interop_threads(1);
  answer_jobs(jobs, hello(devices), [&devices, &jobs](protocol::Job const& job) {
    return run(job, devices, jobs);
  });
}

}  // namespace torchwatch::worker
