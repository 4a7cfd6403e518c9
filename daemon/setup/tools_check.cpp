#include "config/needs.h"
#include "daemon/builds/workers.h"
#include "daemon/service/programs.h"
#include "daemon/setup/checks.h"

namespace torchwatch::setup {

PendingCheck check_tools(CheckContext const& context) {
  if (!is_published(context.options.feed))
    co_return std::string{"nothing to do: only published builds have workers compiled for them"};
  if (!config::needs_compiled_worker(context.options))
    co_return std::string{"nothing to do: no suite needs a worker that is compiled"};
  builds::Workshop workshop{context.executor, context.options};
  builds::WorkerProgram workers{
      context.executor, service::worker_program(context.executable), workshop};
  co_return co_await workers.tools();
}

}  // namespace torchwatch::setup
