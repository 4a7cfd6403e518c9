#include "daemon/searching.h"

#include <string>
#include <utility>

#include <spdlog/spdlog.h>

namespace torchwatch {
namespace asio = boost::asio;

namespace {

void tell_failure(std::string const& name, std::exception_ptr const& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (std::exception const& problem) {
    spdlog::error("search_failed {} reason=\"{}\"", name, problem.what());
  }
}

}  // namespace

/// Remembers that a search runs, and how to stop it, until it ends, however it does.
class Searching::Running {
 public:
  Running(std::map<std::int64_t, Stoppable>& all, BisectionId id)
      : all_{all},
        id_{id.value},
        task_{all_[id_]} {}

  Running(Running const&) = delete;
  Running& operator=(Running const&) = delete;

  ~Running() { all_.erase(id_); }

  Stoppable& task() const { return task_; }

 private:
  std::map<std::int64_t, Stoppable>& all_;
  std::int64_t id_;
  Stoppable& task_;
};

Searching::Searching(asio::any_io_executor executor, storage::Store& store, Bisecting& bisecting)
    : store_{store},
      bisecting_{bisecting},
      group_{std::move(executor), tell_failure} {}

asio::awaitable<Result<Bisection>> Searching::run(Bisection bisection) {
  Running const running{running_, bisection.id};
  co_return co_await carry(running, std::move(bisection));
}

void Searching::steer(BisectionId id) {
  auto const stored = store_.bisections().find(id);
  if (!stored) return;
  if (is_active(stored->state)) return start();
  auto const running = running_.find(id.value);
  if (running != running_.end()) running->second.stop();
}

void Searching::start() {
  for (auto& bisection : store_.bisections().unfinished()) {
    auto const id = bisection.id.value;
    if (running_.contains(id) || is_for_the_pipeline(bisection)) continue;
    auto running = std::make_shared<Running const>(running_, bisection.id);
    group_.spawn("id=" + std::to_string(id), run_alone(std::move(bisection), std::move(running)));
  }
}

asio::awaitable<void> Searching::end() {
  group_.cancel();
  co_await group_.join();
}

asio::awaitable<void> Searching::run_alone(Bisection bisection,
                                           std::shared_ptr<Running const> running) {
  auto const id = bisection.id.value;
  auto const done = co_await carry(*running, std::move(bisection));
  if (!done) spdlog::error("search_failed id={} reason=\"{}\"", id, done.error().message);
}

/// A search that is resumed before it stands still begins again, from what is stored.
asio::awaitable<Result<Bisection>> Searching::carry(Running const& running, Bisection bisection) {
  auto const id = bisection.id;
  while (true) {
    auto task = bisecting_.run(std::move(bisection));
    auto const ended = co_await running.task().run(std::move(task));
    bisection = store_.bisections().find(id).value();
    if (!is_active(bisection.state)) co_return bisection;
    if (ended && !*ended) co_return ended->error();
  }
}

/// Whether its incident's nightly waits for it.
bool Searching::is_for_the_pipeline(Bisection const& bisection) const {
  if (!bisection.incident) return false;
  auto const incident = store_.incidents().find(*bisection.incident);
  auto const nightly = incident ? store_.nightlies().find(incident->nightly) : std::nullopt;
  return nightly && nightly->state == NightlyState::confirmed;
}

}  // namespace torchwatch
