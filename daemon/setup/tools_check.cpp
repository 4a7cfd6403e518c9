#include "daemon/build/workers.h"
#include "daemon/service/programs.h"
#include "daemon/setup/look.h"

namespace torchwatch::setup {

Look look_at_tools(Site const& site) {
  if (!is_published(site.options.feed))
    co_return std::string{"nothing to do: only published builds have workers compiled for them"};
  build::Workshop workshop{site.executor, site.options};
  build::WorkerProgram workers{site.executor, service::worker_program(site.executable), workshop};
  co_return co_await workers.tools();
}

}  // namespace torchwatch::setup
