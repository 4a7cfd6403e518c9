#include "daemon/net/https_transport.h"

#include <gmock/gmock.h>

#include "tests/github/github_fixture.h"

namespace torchwatch::github {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class HttpsTransport : public WithFakeGithub {
 protected:
  static Result<Response> get(net::HttpsTransport& https, std::string const& url) {
    Request request{"GET", url, {{"User-Agent", "test"}}, {}};
    return fakes::run(https.send(std::move(request)));
  }

  static void expect_unavailable(Result<Response> const& answer, std::string const& why) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
    EXPECT_THAT(answer.error().message, HasSubstr(why));
  }
};

TEST_F(HttpsTransport, GivesStatusHeadersAndBody) {
  auto https = transport();
  auto const answer = get(https, server_->url() + "/nothing/here");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->headers.at("content-type"), "application/json; charset=utf-8");
  EXPECT_THAT(answer->body, HasSubstr("Not Found"));
}

TEST_F(HttpsTransport, AcceptsTheServersOtherName) {
  auto https = transport();
  auto const port = server_->url().substr(server_->url().rfind(':'));
  auto const answer = get(https, "https://localhost" + port + "/");
  ASSERT_TRUE(answer) << answer.error().message;
}

TEST_F(HttpsTransport, RefusesAnAuthorityItDoesNotTrust) {
  auto const other = fakes::make_identity(folder_ / "other", {"127.0.0.1"});
  auto https = net::HttpsTransport::open({other.ca.string(), seconds{10}}).value();
  expect_unavailable(get(https, server_->url()), "TLS handshake: certificate verify failed");
  auto system = net::HttpsTransport::open({}).value();
  expect_unavailable(get(system, server_->url()), "TLS handshake: certificate verify failed");
  EXPECT_TRUE(github_.state()["requests"].empty());
}

TEST_F(HttpsTransport, RefusesACertificateForAnotherHost) {
  auto const other = fakes::make_identity(folder_ / "other", {"api.github.com"});
  fakes::FakeGithubServer const server{github_, other};
  auto https = net::HttpsTransport::open({other.ca.string(), seconds{10}}).value();
  expect_unavailable(get(https, server.url()), "certificate verify failed");
  EXPECT_TRUE(github_.state()["requests"].empty());
}

TEST_F(HttpsTransport, NamesHostAndStepWhenNobodyListens) {
  auto const url = server_->url();
  server_.reset();
  auto https = transport();
  expect_unavailable(get(https, url), url + ": connect: ");
}

TEST_F(HttpsTransport, HoldsItsTimeout) {
  fail({{"delay_ms", 60'000}});
  auto https = transport(seconds{1});
  expect_unavailable(get(https, server_->url() + "/"), "read answer: ");
}

TEST_F(HttpsTransport, ReportsADroppedConnection) {
  fail({{"drop", true}});
  auto https = transport();
  expect_unavailable(get(https, server_->url() + "/"), "read answer: ");
}

TEST_F(HttpsTransport, BoundsTheAnswer) {
  std::string const big(17 * 1024 * 1024, 'x');
  fail({{"status", 200}, {"message", big}});
  auto https = transport();
  expect_unavailable(get(https, server_->url() + "/"), "body limit");
}

TEST_F(HttpsTransport, RefusesOtherSchemesAndMissingCertificates) {
  auto https = transport();
  auto const answer = get(https, "http://127.0.0.1/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  auto const opened = net::HttpsTransport::open({"/nonexistent/ca.pem"});
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(opened.error().message, HasSubstr("/nonexistent/ca.pem"));
}

}  // namespace
}  // namespace torchwatch::github
