#include "daemon/build/workers.h"
#include "daemon/service/programs.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

Check check_tools(CheckContext const& site) {
  if (!is_published(site.options.feed))
    co_return std::string{"nothing to do: only published builds have workers compiled for them"};
  build::Workshop workshop{site.executor, site.options};
  build::WorkerProgram workers{site.executor, service::worker_program(site.executable), workshop};
  co_return co_await workers.tools();
}

}  // namespace torchwatch::setup
