#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <gmock/gmock.h>

#include "tests/e2e/eventually.h"
#include "tests/e2e/expect.h"
#include "tests/e2e/service.h"
#include "tests/fakes/github/certificates.h"

// The addresses at which the service listens, and those it refuses to open.
namespace torchwatch::e2e {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// A world, and a certificate for its service. This process and its children trust its authority.
class Endpoints : public testing::Test {
 protected:
  Endpoints() { ::setenv("SSL_CERT_FILE", identity_.ca.c_str(), 1); }

  void TearDown() override { ::unsetenv("SSL_CERT_FILE"); }

  static json files_of(fakes::ServerIdentity const& identity) {
    return {{"certificate", identity.certificate.string()}, {"key", identity.key.string()}};
  }

  void configure_http(json const& http) { world_.configure({{"http", http}}); }

  /// Configures a port that is free now. `config check` cannot find a service with port 0.
  void configure_port() {
    asio::io_context loop{1};
    asio::ip::tcp::acceptor const acceptor{loop, {asio::ip::address_v4::loopback(), 0}};
    configure_http({{"port", acceptor.local_endpoint().port()}});
  }

  Finished ask(Service const& service) {
    return world_.run({"bisections", "--server", service.url()});
  }

  json address_check() {
    auto const checked = world_.run({"config", "check", "--json", world_.config_file().string()});
    auto const answer = json::parse(checked.out);
    for (auto const& check : answer.at("checks"))
      if (check.at("what") == "http address") return check;
    throw std::runtime_error("no check of the address: " + checked.out);
  }

  /// Runs `serve`, which must fail with one line. Returns the line.
  std::string serve_error() {
    auto const served = world_.run({"serve"});
    EXPECT_EQ(served.status, 2);
    EXPECT_EQ(std::ranges::count(served.err, '\n'), 1) << served.err;
    return served.err;
  }

  World world_{quick_world()};
  fakes::ServerIdentity identity_ =
      fakes::make_identity(world_.directory() / "identity", {"127.0.0.1"});
};

TEST_F(Endpoints, UseTlsWithAConfiguredCertificate) {
  configure_http({{"tls", files_of(identity_)}});
  configure_port();
  EXPECT_THAT(address_check().at("found").get<std::string>(),
              ContainsRegex("https://127.0.0.1:[0-9]+: free, with a certificate until 20"));

  Service service{world_};

  EXPECT_THAT(service.url(), StartsWith("https://127.0.0.1:"));
  auto const asked = ask(service);
  EXPECT_EQ(asked.status, 0) << asked.err;
  auto const check = address_check();
  EXPECT_TRUE(check.at("is_good").get<bool>()) << check;
  EXPECT_THAT(check.at("found").get<std::string>(),
              StartsWith("taken by the service itself: torchwatch " PROGRAM_VERSION " at https:"));

  ::unsetenv("SSL_CERT_FILE");
  auto const untrusted = ask(service);
  EXPECT_EQ(untrusted.status, 2);
  EXPECT_THAT(untrusted.err, HasSubstr("SSL certificate problem"));
  EXPECT_TRUE(address_check().at("is_good").get<bool>())
      << "config check reads the configured certificate";
  expect_quiet_end(world_, service.process());
}

TEST_F(Endpoints, FollowARenewedCertificate) {
  configure_http({{"tls", files_of(identity_)}});
  Service const service{world_};
  auto const renewed = fakes::make_identity(world_.directory() / "renewed", {"127.0.0.1"});
  ::setenv("SSL_CERT_FILE", renewed.ca.c_str(), 1);
  EXPECT_EQ(ask(service).status, 2) << "the service still has the old certificate";

  fs::rename(renewed.certificate, identity_.certificate);
  fs::rename(renewed.key, identity_.key);

  auto const asked = ask(service);
  EXPECT_EQ(asked.status, 0) << asked.err;
}

TEST_F(Endpoints, AreNotOpenedWithTheKeyOfAnotherCertificate) {
  auto files = files_of(identity_);
  auto const other = fakes::make_identity(world_.directory() / "other", {"127.0.0.1"});
  files["key"] = other.key.string();
  configure_http({{"tls", files}});

  EXPECT_THAT(serve_error(),
              AllOf(StartsWith("torchwatch serve: http.tls: " + other.key.string()),
                    HasSubstr("allowed the private key of " + identity_.certificate.string())));
  auto const check = address_check();
  EXPECT_FALSE(check.at("is_good").get<bool>());
  EXPECT_THAT(check.at("found").get<std::string>(), HasSubstr(other.key.string()));
}

TEST_F(Endpoints, CanBeUnixSockets) {
  auto const path = world_.directory() / "http.sock";
  configure_http({{"address", "unix:" + path.string()}});
  EXPECT_EQ(address_check().at("found"), "unix:" + path.string() + ": free");
  EXPECT_FALSE(fs::exists(path));
  {
    Service killed{world_};
    EXPECT_EQ(killed.url(), "unix:" + path.string());
    killed.process().send(SIGKILL);
    EXPECT_EQ(killed.process().wait().signal, SIGKILL);
    EXPECT_TRUE(fs::is_socket(path));
    EXPECT_TRUE(address_check().at("is_good").get<bool>())
        << "the killed service does not listen any more";
    expect_no_process_left(world_);
  }

  Service service{world_};

  auto const asked = ask(service);
  EXPECT_EQ(asked.status, 0) << asked.err;
  EXPECT_EQ(service.post("/api/v1/bisections/9", {{"state", "paused"}}).status, 404)
      << "the service accepts the token on a socket, too";
  EXPECT_THAT(address_check().at("found").get<std::string>(),
              HasSubstr("taken by the service itself: torchwatch"));
  expect_quiet_end(world_, service.process());
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(Endpoints, AreNotOpenedToOtherMachinesWithoutTlsAndAToken) {
  configure_http({{"address", "0.0.0.0"}});

  EXPECT_THAT(serve_error(),
              AllOf(HasSubstr("http.address: found \"0.0.0.0\", which other machines reach, "
                              "without http.read_token_file and http.tls"),
                    HasSubstr("\"insecure\": true")));
  auto const checked = world_.run({"config", "check", "--offline", world_.config_file().string()});
  EXPECT_EQ(checked.status, 2);
  EXPECT_THAT(checked.err, HasSubstr("http.address: found \"0.0.0.0\""));
}

TEST_F(Endpoints, AreOpenedToOtherMachinesWhenInsecureIsSet) {
  configure_http({{"address", "0.0.0.0"}, {"insecure", true}});
  Service service{world_};
  EXPECT_THAT(service.process().err(),
              ContainsRegex("warning.*http_insecure address=0.0.0.0 .*http.read_token_file"));
  EXPECT_THAT(service.process().err(), ContainsRegex("http_insecure address=0.0.0.0 .*http.tls"));
  EXPECT_EQ(ask(service).status, 0);
}

TEST_F(Endpoints, AreOpenedToOtherMachinesWithTlsAndAToken) {
  auto const token = world_.directory() / "read-token";
  std::ofstream{token} << "correct-horse-battery-staple\n";
  configure_http(
      {{"address", "0.0.0.0"}, {"tls", files_of(identity_)}, {"read_token_file", token.string()}});
  configure_port();

  auto const service = world_.start({"serve"});

  EXPECT_TRUE(eventually([&] { return !listening_url(service.err()).empty(); })) << service.err();
  EXPECT_THAT(service.err(), Not(HasSubstr("http_insecure")));
}

TEST_F(Endpoints, WarnOfATokenThatOthersCanRead) {
  auto const token = world_.directory() / "token";
  std::ofstream{token} << "correct-horse-battery-staple\n";
  fs::permissions(token, fs::perms::owner_read | fs::perms::owner_write | fs::perms::others_read);
  configure_http({{"token_file", token.string()}});

  auto const service = world_.start({"serve"});

  EXPECT_TRUE(eventually([&] { return !listening_url(service.err()).empty(); })) << service.err();
  EXPECT_THAT(service.err(), ContainsRegex("warning.*token_exposed reason=.*" + token.string()));
  EXPECT_THAT(service.err(), Not(HasSubstr("correct-horse")));
}

TEST_F(Endpoints, RefuseATokenOfLessThan16Characters) {
  auto const token = world_.directory() / "token";
  std::ofstream{token} << "fifteen-letters\n";
  configure_http({{"token_file", token.string()}});
  auto const has_reason =
      HasSubstr("http.token_file: token in file " + token.string() +
                ": found 15 characters, allowed are 16 or more; openssl rand -hex 32 makes one");

  EXPECT_THAT(serve_error(), has_reason);
  EXPECT_THAT(address_check().at("found").get<std::string>(), has_reason);
  auto const asked = world_.run({"bisections",
                                 "1",
                                 "--pause",
                                 "--server",
                                 "http://127.0.0.1:1",
                                 "--token-file",
                                 token.string()});
  EXPECT_THAT(asked.err, HasSubstr("token in file " + token.string() + ": found 15 characters"));
}

}  // namespace
}  // namespace torchwatch::e2e
