#include "daemon/builds/workers.h"
#include "daemon/service/programs.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

Check check_tools(CheckContext const& site) {
  if (!is_published(site.options.feed))
    co_return std::string{"nothing to do: only published builds have workers compiled for them"};
  builds::Workshop workshop{site.executor, site.options};
  builds::WorkerProgram workers{site.executor, service::worker_program(site.executable), workshop};
  co_return co_await workers.tools();
}

}  // namespace torchwatch::setup
