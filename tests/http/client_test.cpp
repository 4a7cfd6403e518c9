#include "http/client.h"

#include <chrono>
#include <stdexcept>
#include <thread>

#include <gmock/gmock.h>

#include "tests/fakes/downloads/download_host.h"
#include "tests/temporary_folder.h"
#include "tests/temporary_variable.h"

namespace torchwatch::http {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using SteadyClock = std::chrono::steady_clock;

class HttpClientTest : public testing::Test {
 protected:
  Result<Response> get(std::string const& target, TakePiece const& take = {}) {
    return client_.send({"GET", host_.url() + target, {}, {}}, {}, take);
  }

  tests::TemporaryVariable except_{"no_proxy", "*"};
  fakes::DownloadHost host_;
  Client client_;
};

TEST_F(HttpClientTest, RethrowsExceptionOfTakePieceAndStaysUsable) {
  host_.host("/file", {.content = "torch"});
  auto const fail = [](Response const&, std::string_view) -> bool {
    throw std::runtime_error{"disk full"};
  };
  EXPECT_THROW(get("/file", fail), std::runtime_error);
  EXPECT_EQ(get("/file").value().body, "torch");
}

TEST_F(HttpClientTest, StopCancelsCurrentAndLaterRequests) {
  host_.fail({{.delay = 30s}});
  std::jthread const stopper{[this] {
    std::this_thread::sleep_for(200ms);
    client_.stop();
  }};
  auto const begin = SteadyClock::now();

  auto const answer = get("/file");

  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::cancelled);
  EXPECT_LT(SteadyClock::now() - begin, 1s);
  EXPECT_EQ(get("/file").error().code, ErrorCode::cancelled);
}

TEST_F(HttpClientTest, NamesTheStepThatFailed) {
  auto const why = [this](std::string const& url, Options const& options = {}) {
    return client_.send({"GET", url, {}, {}}, options).error();
  };
  EXPECT_THAT(why("http://127.0.0.1:1/").message, testing::StartsWith("connect: "));
  EXPECT_EQ(why("ftp://127.0.0.1:1/").code, ErrorCode::invalid_argument);
  Options options;
  options.unix_socket = "/nonexistent/socket";
  EXPECT_EQ(why("http://localhost/", options).message, "connect: No such file or directory");
}

TEST(HttpClientOverTls, TrustsOnlyTheAuthoritiesOfItsFile) {
  tests::TemporaryVariable const except{"no_proxy", "*"};
  tests::TemporaryFolder folder;
  auto const identity = fakes::make_identity(folder / "first", {"127.0.0.1"});
  auto const other = fakes::make_identity(folder / "other", {"127.0.0.1"});
  fakes::DownloadHost const host{identity};
  Request const request{"GET", host.url() + "/", {}, {}};
  Options options;

  EXPECT_EQ(Client{}.send(request, options).error().code, ErrorCode::refused);
  options.ca_file = other.ca.string();
  EXPECT_EQ(Client{}.send(request, options).error().code, ErrorCode::refused);
  {
    tests::TemporaryVariable const variable{"SSL_CERT_FILE", identity.ca.string()};
    EXPECT_EQ(Client{}.send(request, options).error().code, ErrorCode::refused) << "ca_file wins";
    EXPECT_TRUE(Client{}.send(request, {}));
  }
  options.ca_file = identity.ca.string();
  EXPECT_TRUE(Client{}.send(request, options));
  options.ca_file = "/nonexistent/ca.pem";
  auto const unreadable = Client{}.send(request, options).error();
  EXPECT_EQ(unreadable.code, ErrorCode::invalid_argument);
  EXPECT_THAT(unreadable.message, HasSubstr("/nonexistent/ca.pem"));
}

TEST(HttpClientOverTls, TrustsOnlyTheGivenCertificateAndIgnoresItsName) {
  tests::TemporaryVariable const except{"no_proxy", "*"};
  tests::TemporaryFolder folder;
  auto const identity = fakes::make_identity(folder / "first", {"watch.example"});
  auto const other = fakes::make_identity(folder / "other", {"127.0.0.1"});
  fakes::DownloadHost const host{identity};
  Request const request{"GET", host.url() + "/", {}, {}};
  Options options;
  options.certificate = identity.certificate.string();

  EXPECT_TRUE(Client{}.send(request, options));
  options.certificate = other.certificate.string();
  EXPECT_EQ(Client{}.send(request, options).error().code, ErrorCode::refused);
}

}  // namespace
}  // namespace torchwatch::http
