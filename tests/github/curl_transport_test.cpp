#include "daemon/http/curl_transport.h"

#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_future.hpp>
#include <gmock/gmock.h>

#include "tests/fakes/proxy/connect_proxy.h"
#include "tests/github/github_fixture.h"

namespace torchwatch::github {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

class CurlTransport : public WithFakeGithub {
 protected:
  static Result<Response> get(http::CurlTransport& https, std::string const& url) {
    Request request{"GET", url, {{"User-Agent", "test"}}, {}};
    return fakes::run(https.send(std::move(request)));
  }

  static void expect_unavailable(Result<Response> const& answer, std::string const& why) {
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code, ErrorCode::unavailable);
    EXPECT_THAT(answer.error().message, HasSubstr(why));
  }
};

TEST_F(CurlTransport, GivesStatusHeadersAndBody) {
  auto https = transport();
  auto const answer = get(https, server_->url() + "/nothing/here");
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->status, 404);
  EXPECT_EQ(answer->headers.at("content-type"), "application/json; charset=utf-8");
  EXPECT_THAT(answer->body, HasSubstr("Not Found"));
}

TEST_F(CurlTransport, AcceptsTheServersOtherName) {
  auto https = transport();
  auto const port = server_->url().substr(server_->url().rfind(':'));
  auto const answer = get(https, "https://localhost" + port + "/");
  ASSERT_TRUE(answer) << answer.error().message;
}

TEST_F(CurlTransport, RefusesAnAuthorityItDoesNotTrust) {
  auto const other = fakes::make_identity(folder_ / "other", {"127.0.0.1"});
  auto https = http::CurlTransport{trusting(other)};
  expect_unavailable(get(https, server_->url()), "connect: SSL certificate problem: ");
  http::CurlTransport system{{}};
  expect_unavailable(get(system, server_->url()), "connect: SSL certificate problem: ");
  EXPECT_TRUE(github_.state()["requests"].empty());
}

TEST_F(CurlTransport, RefusesACertificateForAnotherHost) {
  auto const other = fakes::make_identity(folder_ / "other", {"api.github.com"});
  fakes::FakeGithubServer const server{github_, other};
  auto https = http::CurlTransport{trusting(other)};
  expect_unavailable(get(https, server.url()), "no alternative certificate subject name matches");
  EXPECT_TRUE(github_.state()["requests"].empty());
}

TEST_F(CurlTransport, NamesHostAndStepWhenNobodyListens) {
  auto const url = server_->url();
  server_.reset();
  auto https = transport();
  expect_unavailable(get(https, url), url + ": connect: ");
}

TEST_F(CurlTransport, HoldsItsTimeout) {
  fail({{"delay_ms", 60'000}});
  auto https = transport(seconds{1});
  expect_unavailable(get(https, server_->url() + "/"), "transfer: ");
}

TEST_F(CurlTransport, ReportsADroppedConnection) {
  fail({{"drop", true}});
  auto https = transport();
  expect_unavailable(get(https, server_->url() + "/"), "transfer: ");
}

TEST_F(CurlTransport, BoundsTheAnswer) {
  std::string const big(17 * 1024 * 1024, 'x');
  fail({{"status", 200}, {"message", big}});
  auto https = transport();
  expect_unavailable(get(https, server_->url() + "/"),
                     "response body: found more than 16777216 bytes");
}

TEST_F(CurlTransport, SendsRequestsSideBySide) {
  change({{"faults", {{{"delay_ms", 1000}}, {{"delay_ms", 1000}}}}});
  auto https = transport();
  boost::asio::io_context loop{1};
  auto const begin = std::chrono::steady_clock::now();
  std::vector<std::future<Result<Response>>> answers;
  for (int i = 0; i < 2; ++i) {
    Request request{"GET", server_->url() + "/nothing/here", {{"User-Agent", "test"}}, {}};
    answers.push_back(
        boost::asio::co_spawn(loop, https.send(std::move(request)), boost::asio::use_future));
  }

  loop.run();

  for (auto& answer : answers)
    EXPECT_TRUE(answer.get());
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::milliseconds{1900});
}

/// A request that waits for its answer, on a loop of its own.
class InterruptedRequest : public CurlTransport {
 protected:
  InterruptedRequest() {
    fail({{"delay_ms", 60'000}});
    Request request{"GET", server_->url() + "/nothing/here", {}, {}};
    boost::asio::co_spawn(
        *loop_,
        https_.send(std::move(request)),
        boost::asio::bind_cancellation_slot(
            cancel_.slot(),
            [this](std::exception_ptr const&, Result<Response> answer) { answer_ = answer; }));
    loop_->run_for(std::chrono::milliseconds{500});
  }

  http::CurlTransport https_ = transport();
  std::unique_ptr<boost::asio::io_context> loop_ = std::make_unique<boost::asio::io_context>(1);
  boost::asio::cancellation_signal cancel_;
  std::optional<Result<Response>> answer_;
};

TEST_F(InterruptedRequest, EndsWithinASecondWhenItIsCancelled) {
  ASSERT_FALSE(answer_) << answer_->error().message;
  auto const begin = std::chrono::steady_clock::now();

  cancel_.emit(boost::asio::cancellation_type::terminal);
  loop_->run();

  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{1});
  ASSERT_TRUE(answer_);
  ASSERT_FALSE(*answer_);
  EXPECT_EQ(answer_->error().code, ErrorCode::cancelled);
}

TEST_F(InterruptedRequest, EndsWithinASecondWithItsLoop) {
  auto const begin = std::chrono::steady_clock::now();

  loop_.reset();

  EXPECT_LT(std::chrono::steady_clock::now() - begin, seconds{1});
  EXPECT_FALSE(answer_);
}

class ByProxy : public CurlTransport {
 protected:
  static http::Options by(std::string const& proxy, http::Options options) {
    options.proxy = proxy;
    return options;
  }

  /// `user`: "[USER:PASSWORD@]" before the proxy's address.
  Result<Response> get_by(fakes::ConnectProxy const& proxy, std::string const& user = "") {
    http::CurlTransport https{
        by("http://" + user + proxy.address(), trusting(identity_, seconds{2}))};
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

TEST_F(ByProxy, ItSendsUserAndPassword) {
  fakes::ProxyManners manners;
  manners.authorization = "Basic bWU6cEBzcw==";  // me:p@ss
  fakes::ConnectProxy const proxy{manners};

  auto const answer = get_by(proxy, "me:p%40ss@");

  ASSERT_TRUE(answer) << answer.error().message;
}

TEST_F(ByProxy, AWrongPasswordIsAnErrorThatDoesNotShowIt) {
  fakes::ProxyManners manners;
  manners.authorization = "Basic bWU6cEBzcw==";
  fakes::ConnectProxy const proxy{manners};

  auto const answer = get_by(proxy, "me:secret@");

  expect_unavailable(answer, server_->url() + ": connect: CONNECT tunnel failed, response 407");
  EXPECT_THAT(answer.error().message, HasSubstr(proxy.address()));
  EXPECT_THAT(answer.error().message, testing::Not(HasSubstr("secret")));
  EXPECT_TRUE(github_.state()["requests"].empty());
}

TEST_F(ByProxy, ARefusalIsAnError) {
  fakes::ProxyManners manners;
  manners.status = 403;
  fakes::ConnectProxy const proxy{manners};

  expect_unavailable(get_by(proxy), "CONNECT tunnel failed, response 403");
}

TEST_F(ByProxy, ItDoesNotWaitForEver) {
  fakes::ProxyManners manners;
  manners.is_silent = true;
  fakes::ConnectProxy const proxy{manners};
  auto const began = std::chrono::steady_clock::now();

  auto const answer = get_by(proxy);

  expect_unavailable(answer, server_->url() + ": connect: ");
  EXPECT_THAT(answer.error().message, HasSubstr(proxy.address()));
  EXPECT_LT(std::chrono::steady_clock::now() - began, seconds{5});
}

TEST_F(ByProxy, ItNamesAProxyThatIsNotThere) {
  auto proxy = std::make_unique<fakes::ConnectProxy>();
  auto const address = proxy->address();
  http::CurlTransport https{by("http://me:secret@" + address, trusting(identity_))};
  proxy.reset();

  auto const answer = get(https, server_->url());

  expect_unavailable(answer, server_->url() + ": connect: ");
  EXPECT_THAT(answer.error().message, HasSubstr(address));
  EXPECT_THAT(answer.error().message, testing::Not(HasSubstr("secret")));
}

TEST_F(ByProxy, ItTrustsNobodyElse) {
  fakes::ConnectProxy const proxy;
  http::CurlTransport https{by("http://" + proxy.address(), {})};

  expect_unavailable(get(https, server_->url()), "connect: SSL certificate problem: ");
}

TEST_F(CurlTransport, RefusesOtherSchemesAndMissingCertificates) {
  auto https = transport();
  auto const answer = get(https, "http://127.0.0.1/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::invalid_argument);
  http::Options options;
  options.ca_file = "/nonexistent/ca.pem";
  http::CurlTransport without{options};
  auto const distrustful = get(without, server_->url());
  ASSERT_FALSE(distrustful);
  EXPECT_EQ(distrustful.error().code, ErrorCode::invalid_argument);
  EXPECT_THAT(distrustful.error().message, HasSubstr("/nonexistent/ca.pem"));
}

}  // namespace
}  // namespace torchwatch::github
