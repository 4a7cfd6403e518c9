#include <gmock/gmock.h>

#include "daemon/setup/checks.h"
#include "tests/api/live_server.h"

namespace torchwatch::setup {
namespace {

/// Returns the description of a server with this reply at /healthz.
std::string service_that_says(int status, std::string const& body) {
  tests::LiveServer const server{
      [&](http::HttpRequest const&) -> boost::asio::awaitable<http::HttpResponse> {
        co_return http::HttpResponse{status, {}, body};
      }};
  config::HttpOptions http;
  http.port = server.port();
  auto known = running_service(http);
  auto const at = known.find(std::to_string(http.port));
  return at == std::string::npos ? known : known.replace(at, std::to_string(http.port).size(), "P");
}

TEST(RunningService, IsKnownByItsHealth) {
  EXPECT_EQ(service_that_says(200, R"({"status": "ok", "version": "1.2"})"),
            "torchwatch 1.2 at http://127.0.0.1:P");
}

TEST(RunningService, IsKnownWhenItIsUnhealthy) {
  EXPECT_EQ(service_that_says(
                503, R"({"status": "failing", "version": "1.2", "troubles": ["disk", "store"]})"),
            "torchwatch 1.2 at http://127.0.0.1:P, unhealthy: disk; store");
}

TEST(RunningService, SkipsTroublesThatAreNotTexts) {
  EXPECT_EQ(service_that_says(503, R"({"status": "", "version": "1.2", "troubles": [7, "disk"]})"),
            "torchwatch 1.2 at http://127.0.0.1:P, unhealthy: disk");
}

TEST(RunningService, IsNotAnotherServer) {
  EXPECT_EQ(service_that_says(404, R"({"status": 404})"), "");
  EXPECT_EQ(service_that_says(503, R"({"status": 503, "title": "Service Unavailable"})"), "");
  EXPECT_EQ(service_that_says(200, "hello"), "");
  EXPECT_EQ(service_that_says(200, R"({"status": "ok", "version": 7})"), "");
}

}  // namespace
}  // namespace torchwatch::setup
