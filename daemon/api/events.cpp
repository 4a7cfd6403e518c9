#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include "daemon/api/handlers.h"
#include "daemon/api/json.h"

namespace torchwatch::api {
namespace {

namespace asio = boost::asio;

constexpr std::chrono::seconds between_checks{1};
constexpr int checks_between_comments = 15;

bool is_healthy(View const& view) {
  return troubles_of(view.health.get(), HealthState::Instant::clock::now()).empty();
}

std::string event(std::string const& name, bool healthy) {
  return "event: " + name + "\ndata: " + text_of({{"healthy", healthy}}) + "\n\n";
}

/// The state that one client knows.
class Listener {
 public:
  explicit Listener(View const& view)
      : view_{view},
        version_{view.store.version()},
        healthy_{is_healthy(view)} {}

  std::string hello() const { return event("hello", healthy_); }

  asio::awaitable<std::string> next() {
    asio::steady_timer pause{co_await asio::this_coro::executor};
    for (int checks = 0; checks < checks_between_comments; ++checks) {
      pause.expires_after(between_checks);
      co_await pause.async_wait(asio::use_awaitable);
      if (has_changed()) co_return event("changed", healthy_);
    }
    co_return ": nothing new\n\n";
  }

 private:
  bool has_changed() {
    auto const version = view_.store.version();
    auto const healthy = is_healthy(view_);
    bool const changed = version != version_ || healthy != healthy_;
    version_ = version;
    healthy_ = healthy;
    return changed;
  }

  View const& view_;
  std::int64_t version_;
  bool healthy_;
};

}  // namespace

http::HttpResponse stream_events(View const& view, Call const&) {
  auto const listener = std::make_shared<Listener>(view);
  http::HttpResponse response;
  response.headers["content-type"] = "text/event-stream";
  response.headers["cache-control"] = "no-store";
  response.body = listener->hello();
  response.more = [listener] {
    return listener->next();
  };
  return response;
}

}  // namespace torchwatch::api
