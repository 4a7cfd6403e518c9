#include "daemon/net/https_transport.h"

#include <gmock/gmock.h>

#include "tests/fakes/proxy/connect_proxy.h"
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

class ByProxy : public HttpsTransport {
 protected:
  /// `by`: "[USER:PASSWORD@]" before the proxy's address.
  Result<Response> get_by(fakes::ConnectProxy const& proxy,
                          std::string const& by = "",
                          std::string const& except = "") {
    net::HttpsOptions options{identity_.ca.string(), seconds{2}};
    options.proxy = {"http://" + by + proxy.address(), except};
    auto https = net::HttpsTransport::open(std::move(options)).value();
    return get(https, server_->url() + "/nothing/here");
  }

  std::string authority() const { return server_->url().substr(8); }
};

TEST_F(ByProxy, ItComesToTheServerOverTls) {
  fakes::ConnectProxy const proxy;

  auto const answer = get_by(proxy);

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  ASSERT_EQ(proxy.requests().size(), 1U);
  EXPECT_EQ(proxy.requests().front().target, authority());
  EXPECT_EQ(proxy.requests().front().authorization, "");
}

TEST_F(ByProxy, ItTellsUserAndPassword) {
  fakes::ProxyManners manners;
  manners.authorization = "Basic bWU6cEBzcw==";  // me:p@ss
  fakes::ConnectProxy const proxy{manners};

  auto const answer = get_by(proxy, "me:p%40ss@");

  ASSERT_TRUE(answer) << answer.error().message;
}

TEST_F(ByProxy, ItIsToldWhenThePasswordIsWrong) {
  fakes::ProxyManners manners;
  manners.authorization = "Basic bWU6cEBzcw==";
  fakes::ConnectProxy const proxy{manners};

  auto const answer = get_by(proxy, "me:secret@");

  expect_unavailable(answer,
                     server_->url() + " by proxy " + proxy.address() +
                         ": ask for a connection: it wants a user and a password that it knows");
  EXPECT_THAT(answer.error().message, testing::Not(HasSubstr("secret")));
  EXPECT_TRUE(github_.state()["requests"].empty());
}

TEST_F(ByProxy, ItIsToldThatTheProxyRefuses) {
  fakes::ProxyManners manners;
  manners.status = 403;
  fakes::ConnectProxy const proxy{manners};

  expect_unavailable(get_by(proxy), "ask for a connection: it answers 403");
}

TEST_F(ByProxy, ItDoesNotWaitForEver) {
  fakes::ProxyManners manners;
  manners.is_silent = true;
  fakes::ConnectProxy const proxy{manners};
  auto const began = std::chrono::steady_clock::now();

  expect_unavailable(get_by(proxy), "by proxy " + proxy.address() + ": ask for a connection: ");

  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds{5});
}

TEST_F(ByProxy, ItNamesAProxyThatIsNotThere) {
  auto proxy = std::make_unique<fakes::ConnectProxy>();
  auto const address = proxy->address();
  net::HttpsOptions options{identity_.ca.string(), seconds{2}};
  options.proxy.url = "http://me:secret@" + address;
  proxy.reset();
  auto https = net::HttpsTransport::open(std::move(options)).value();

  auto const answer = get(https, server_->url());

  expect_unavailable(answer, server_->url() + " by proxy " + address + ": connect: ");
  EXPECT_THAT(answer.error().message, testing::Not(HasSubstr("secret")));
}

TEST_F(ByProxy, ItTrustsNobodyElse) {
  fakes::ConnectProxy const proxy;
  net::HttpsOptions options{{}, seconds{2}};
  options.proxy.url = "http://" + proxy.address();
  auto https = net::HttpsTransport::open(std::move(options)).value();

  expect_unavailable(get(https, server_->url()), "TLS handshake: certificate verify failed");
}

TEST_F(ByProxy, ItGoesRoundItWhereTheServerIsExcepted) {
  fakes::ConnectProxy const proxy;

  auto const answer = get_by(proxy, "", "127.0.0.0/8");

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_TRUE(proxy.requests().empty());
}

TEST_F(ByProxy, ItIsNoProxyOfAnotherKind) {
  net::HttpsOptions options{identity_.ca.string(), seconds{2}};
  options.proxy.url = "socks5://127.0.0.1:1";
  auto https = net::HttpsTransport::open(std::move(options)).value();

  auto const answer = get(https, server_->url());

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
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
