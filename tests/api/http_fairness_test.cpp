#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <sys/resource.h>

#include "daemon/http/host.h"
#include "tests/api/http_client.h"
#include "tests/api/live_api.h"
#include "tests/api/live_server.h"

namespace torchwatch::tests {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

constexpr auto stranger = "127.0.0.2";

TEST(Host, IsOursByAddressNameOrConfiguredName) {
  for (auto const* const host :
       {"localhost:8917", "LocalHost", "127.0.0.1", "10.1.2.3:80", "[::1]:8917"})
    EXPECT_TRUE(http::is_host_ours(host, {})) << host;
  for (auto const* const host : {"evil.example",
                                 "evil.example:8917",
                                 "localhost.evil.example",
                                 "",
                                 "[",
                                 "127.0.0.1.evil.example"})
    EXPECT_FALSE(http::is_host_ours(host, {})) << host;
  EXPECT_TRUE(http::is_host_ours("Watch.Example:80", {"watch.example"}));
}

TEST(HttpEndpoints, RefuseOtherHostNames) {
  LiveApi api;
  auto const answer =
      ask(api.port(), "GET /api/v1/nightlies HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(answer.status, 421);
  EXPECT_THAT(answer.body, HasSubstr("http.hosts"));
}

TEST(HttpEndpoints, AcceptAnyHostWithoutHostCheck) {
  auto options = LiveApi::options_with_token();
  options.access.checks_host = false;
  LiveApi api{std::move(options)};
  EXPECT_EQ(ask(api.port(), "GET /api/v1/nightlies HTTP/1.1\r\nHost: evil.example\r\n\r\n").status,
            200);
}

TEST(HttpEndpoints, NeedOneOfTheTokensIfThereIsAReadToken) {
  auto options = LiveApi::options_with_token();
  options.access.read_token = "battery-staple";
  LiveApi api{std::move(options)};
  auto const with = [&](std::string const& token) {
    return ask(api.port(),
               "GET /api/v1/nightlies HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer " +
                   token + "\r\n\r\n")
        .status;
  };
  EXPECT_EQ(ask(api.port(), get("/api/v1/nightlies")).status, 401);
  EXPECT_EQ(with("wrong"), 401);
  EXPECT_EQ(with("battery-staple"), 200);
  EXPECT_EQ(with("correct-horse"), 200);
  EXPECT_EQ(ask(api.port(), get("/healthz")).status, 200);
  auto const changed = ask(
      api.port(),
      "POST /api/v1/rulings HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer battery-staple\r\n"
      "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(changed.status, 401) << "the read token allows no changes";
}

http::HttpServerOptions with_doorman(http::Precheck precheck) {
  http::HttpServerOptions options;
  options.precheck = std::move(precheck);
  return options;
}

boost::asio::awaitable<http::HttpResponse> yes(http::HttpRequest) {
  co_return http::HttpResponse{200, {}, "yes"};
}

TEST(HttpEndpoints, RefuseBeforeBodyIsRead) {
  LiveServer server{
      yes, with_doorman([](http::HttpRequest const& head) -> std::optional<http::HttpResponse> {
        if (head.method == "POST") return http::problem(401, "no");
        return std::nullopt;
      })};
  HttpClient client{server.port()};
  // The body never comes.
  client.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.receive().status, 401);
  EXPECT_TRUE(client.is_hung_up());

  HttpClient polite{server.port()};
  EXPECT_EQ(polite.ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n").status,
            401);
  EXPECT_EQ(polite.ask(get("/")).status, 200) << "nothing was left unread";
}

TEST(HttpEndpoints, LimitConnectionsOfOneClient) {
  http::HttpServerOptions options;
  options.connections = 10;
  options.connections_of_peer = 4;
  options.kept_for_loopback = 0;
  LiveServer server{yes, options};
  std::vector<HttpClient> greedy;
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(greedy.emplace_back(server.port(), stranger).ask(get("/")).status, 200);
  EXPECT_EQ(HttpClient(server.port(), stranger).ask(get("/")).status, 503);
  EXPECT_EQ(ask(server.port(), get("/")).status, 200) << "of another client";
  greedy.pop_back();
  auto const end = std::chrono::steady_clock::now() + 5s;
  auto status = 503;
  while (status != 200 && std::chrono::steady_clock::now() < end)
    status = HttpClient(server.port(), stranger).ask(get("/")).status;
  EXPECT_EQ(status, 200) << "a place is free again";
}

/// Returns a response whose first piece never comes.
boost::asio::awaitable<http::HttpResponse> listen_or_yes(http::HttpRequest request) {
  http::HttpResponse response{200, {}, "yes"};
  if (request.target == "/events") {
    response.more = []() -> boost::asio::awaitable<std::string> {
      auto const executor = co_await boost::asio::this_coro::executor;
      boost::asio::steady_timer rest{executor, 1h};
      co_await rest.async_wait(boost::asio::use_awaitable);
      co_return "";
    };
  }
  co_return response;
}

TEST(HttpEndpoints, LimitListenersOfOneClient) {
  http::HttpServerOptions options;
  options.connections_of_peer = 4;
  options.listeners_of_peer = 20;
  LiveServer server{listen_or_yes, options};
  std::vector<HttpClient> listeners;
  for (int i = 0; i < 20; ++i) {
    auto& one = listeners.emplace_back(server.port(), stranger);
    ASSERT_TRUE(one.send(get("/events")));
    ASSERT_THAT(one.read_until("yes"), HasSubstr("200 OK")) << i;
  }
  EXPECT_EQ(HttpClient(server.port(), stranger).ask(get("/healthz")).status, 200);

  HttpClient next{server.port(), stranger};
  auto const refused = next.ask(get("/events"));
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, HasSubstr("listeners: found too many, allowed 20 of one client"));
  EXPECT_TRUE(next.is_hung_up()) << "it does not count as a connection";
  EXPECT_EQ(HttpClient(server.port(), stranger).ask(get("/healthz")).status, 200);
}

/// Raises the limit of open files, since both ends of all connections are in this process.
void allow_descriptors() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

int resident_kib() {
  std::ifstream status{"/proc/self/status"};
  for (std::string word; status >> word;) {
    int size = 0;
    if (word == "VmRSS:" && status >> size) return size;
  }
  return 0;
}

TEST(HttpSiege, DoesNotDelayHealthChecksOfOtherClients) {
  constexpr int checks = 300;
  allow_descriptors();
  LiveServer server{yes};
  std::vector<HttpClient> besiegers;
  for (int i = 0; i < 1000; ++i) {
    auto& one = besiegers.emplace_back(server.port(), stranger);
    if (i % 2 == 0) one.send("GET /heal");  // and no more
  }
  int good = 0;
  std::vector<double> milliseconds;
  for (int i = 0; i < checks; ++i) {
    auto const begin = std::chrono::steady_clock::now();
    if (ask(server.port(), get("/healthz")).status == 200) ++good;
    std::chrono::duration<double, std::milli> const took = std::chrono::steady_clock::now() - begin;
    milliseconds.push_back(took.count());
  }
  std::ranges::sort(milliseconds);
  auto const p99 = milliseconds.at(checks * 99 / 100 - 1);
  std::cout << good << " of " << checks << " answered, p99 " << p99 << " ms\n";
  EXPECT_GE(good, checks * 99 / 100);
  EXPECT_LT(p99, 50);
}

TEST(HttpSiege, WithUnauthenticatedBodiesTakesNoMemory) {
  allow_descriptors();
  auto options = with_doorman([](http::HttpRequest const&) -> std::optional<http::HttpResponse> {
    return http::problem(401, "no");
  });
  options.connections_of_peer = options.connections;
  LiveServer server{yes, std::move(options)};
  auto const before = resident_kib();
  std::string const body(1 << 20, 'x');
  std::vector<HttpClient> clients;
  for (int i = 0; i < 250; ++i) {
    auto& one = clients.emplace_back(server.port());
    one.send("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n");
    one.send(std::string_view{body}.substr(0, 100'000));
  }
  auto const grown = resident_kib() - before;
  std::cout << "grown by " << grown / 1024 << " MiB\n";
  EXPECT_LT(grown, 64 * 1024);
}

}  // namespace
}  // namespace torchwatch::tests
