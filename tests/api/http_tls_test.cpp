#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <sys/stat.h>

#include "daemon/http/http_origin.h"
#include "daemon/http/server_tls.h"
#include "tests/api/http_client.h"
#include "tests/api/live_server.h"
#include "tests/api/tls_client.h"
#include "tests/fakes/github/certificates.h"
#include "tests/temporary_folder.h"

// A server with TLS: with good, renewed and bad files, and clients of all kinds.
namespace torchwatch::tests {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

boost::asio::awaitable<http::HttpResponse> say_target(http::HttpRequest request) {
  co_return http::HttpResponse{200, {}, request.target};
}

/// Two identities, and the files of a server, which contain the first.
class HttpTls : public testing::Test {
 protected:
  HttpTls() { install(first_); }

  static void replace(fs::path const& by, fs::path const& file) {
    fs::copy_file(by, file.string() + ".new");
    fs::rename(file.string() + ".new", file);
  }

  void install(fakes::ServerIdentity const& identity) const {
    replace(identity.certificate, certificate_);
    replace(identity.key, key_);
  }

  MakeEndpoint endpoint() const {
    return [this](boost::asio::any_io_executor const& executor) {
      auto endpoint = plain_endpoint(executor);
      endpoint.tls = http::ServerTls::open({certificate_, key_}).value();
      return endpoint;
    };
  }

  /// True if the server at `port` answers and has the certificate of `identity`.
  static bool is(fakes::ServerIdentity const& identity, std::uint16_t port) {
    http::HttpOrigin const origin{"https://127.0.0.1:" + std::to_string(port),
                                  identity.certificate.string()};
    auto const answer = http::ask_http(origin, {"GET", "/who", {}, ""});
    return answer && answer->status == 200 && answer->body == "/who";
  }

  TemporaryFolder folder_;
  fakes::ServerIdentity first_ = fakes::make_identity(folder_ / "first", {"127.0.0.1"});
  fakes::ServerIdentity second_ = fakes::make_identity(folder_ / "second", {"127.0.0.1"});
  std::string certificate_ = folder_ / "certificate.pem";
  std::string key_ = folder_ / "key.pem";
};

TEST_F(HttpTls, AnswersClientsThatTrustItsCertificate) {
  LiveServer server{say_target, {}, endpoint()};
  EXPECT_TRUE(is(first_, server.port()));
  EXPECT_FALSE(is(second_, server.port()));
  EXPECT_THAT(server.reports(), IsEmpty())
      << "a client that trusts another server is not a failure";
}

TEST_F(HttpTls, IsVerifiedByAuthoritiesAndName) {
  LiveServer const server{say_target, {}, endpoint()};
  auto const ask = [&](std::string const& host) {
    auto const origin = http::parse_origin("https://" + host + ":" + std::to_string(server.port()));
    auto const answer = http::ask_http(origin.value(), {"GET", "/", {}, ""});
    return answer ? std::to_string(answer->status) : answer.error().message;
  };
  ::setenv("SSL_CERT_FILE", first_.ca.c_str(), 1);
  auto const known = ask("127.0.0.1");
  auto const by_another_name = ask("localhost");
  ::unsetenv("SSL_CERT_FILE");
  EXPECT_EQ(known, "200");
  EXPECT_THAT(by_another_name,
              AllOf(StartsWith("https://localhost:"),
                    HasSubstr("no alternative certificate subject name matches")));
  EXPECT_THAT(ask("127.0.0.1"), HasSubstr("unable to get local issuer certificate"));
}

TEST_F(HttpTls, KeepsAConnectionForManyRequests) {
  LiveServer const server{say_target, {}, endpoint()};
  TlsClient client{server.port()};
  ASSERT_EQ(client.shake_hands(), "TLSv1.3");
  EXPECT_EQ(client.ask(get("/1")).body, "/1");
  EXPECT_EQ(client.ask(get("/2")).body, "/2");
}

TEST_F(HttpTls, ClientThatGoesOnSendingReadsItsRefusal) {
  LiveServer const server{say_target, {}, endpoint()};
  TlsClient client{server.port()};
  ASSERT_EQ(client.shake_hands(), "TLSv1.3");
  std::string const body(2 << 20, 'x');
  EXPECT_EQ(
      client.ask("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2097152\r\n\r\n" + body).status,
      413);
}

TEST_F(HttpTls, AcceptsTls12AndNewer) {
  LiveServer const server{say_target, {}, endpoint()};
  EXPECT_EQ(TlsClient(server.port(), TLS1_3_VERSION).shake_hands(), "TLSv1.3");
  EXPECT_EQ(TlsClient(server.port(), TLS1_2_VERSION).shake_hands(), "TLSv1.2");
  EXPECT_THAT(TlsClient(server.port(), TLS1_1_VERSION).shake_hands(),
              HasSubstr("alert protocol version"));
}

TEST_F(HttpTls, UsesRenewedCertificateWithoutRestart) {
  LiveServer server{say_target, {}, endpoint()};
  TlsClient before{server.port()};
  ASSERT_EQ(before.shake_hands(), "TLSv1.3");
  EXPECT_EQ(before.ask(get("/1")).status, 200);

  install(second_);

  EXPECT_TRUE(is(second_, server.port()));
  EXPECT_FALSE(is(first_, server.port()));
  EXPECT_EQ(before.ask(get("/2")).status, 200) << "existing connections stay";
  EXPECT_THAT(server.reports(), IsEmpty());
}

TEST_F(HttpTls, KeepsCertificateAndReportsOnceWhenRenewedPairIsBad) {
  LiveServer server{say_target, {}, endpoint()};

  replace(second_.certificate, certificate_);  // and not its key

  EXPECT_TRUE(is(first_, server.port()));
  EXPECT_TRUE(is(first_, server.port()));
  EXPECT_THAT(
      server.reports(),
      ElementsAre(
          AllOf(StartsWith("http certificate not renewed, the previous one stays in use: " + key_),
                HasSubstr("key values mismatch"))));

  fs::remove(certificate_);
  EXPECT_TRUE(is(first_, server.port()));
  EXPECT_EQ(server.reports().size(), 2U) << "a new state is reported again";

  install(second_);
  EXPECT_TRUE(is(second_, server.port()));
  EXPECT_EQ(server.reports().size(), 2U);
}

TEST_F(HttpTls, ClosesConnectionWithoutFinishedHandshake) {
  http::HttpServerOptions options;
  options.handshake_timeout = 1s;
  LiveServer const server{say_target, options, endpoint()};
  HttpClient silent{server.port()};
  HttpClient slow{server.port()};
  slow.send(std::string{"\x16\x03\x01\x02", 4});  // the beginning of a greeting

  EXPECT_TRUE(silent.is_hung_up());
  EXPECT_TRUE(slow.is_hung_up());
  EXPECT_TRUE(is(first_, server.port()));
}

TEST_F(HttpTls, CountsConnectionsInHandshake) {
  http::HttpServerOptions options;
  options.connections = 2;
  options.handshake_timeout = 2s;
  LiveServer const server{say_target, options, endpoint()};
  HttpClient first{server.port()};
  HttpClient second{server.port()};

  HttpClient third{server.port()};

  EXPECT_TRUE(third.is_hung_up(1s)) << "two connections are allowed";
  EXPECT_TRUE(first.is_hung_up());
  EXPECT_TRUE(second.is_hung_up());
  EXPECT_TRUE(is(first_, server.port())) << "a connection is free again";
}

TEST_F(HttpTls, ClosesConnectionWithPlainText) {
  LiveServer server{say_target, {}, endpoint()};
  HttpClient client{server.port()};

  EXPECT_EQ(client.ask(get("/")).status, 0);
  EXPECT_TRUE(client.is_hung_up());

  EXPECT_TRUE(is(first_, server.port()));
  EXPECT_THAT(server.reports(), IsEmpty());
}

TEST_F(HttpTls, StopsAtOnceWithIdleClientsAndHandshakes) {
  http::HttpServerOptions options;
  options.grace = 1h;
  LiveServer server{say_target, options, endpoint()};
  TlsClient idle{server.port()};
  ASSERT_EQ(idle.shake_hands(), "TLSv1.3");
  idle.ask(get("/"));
  HttpClient const greeting{server.port()};

  EXPECT_FALSE(server.wait());

  EXPECT_THAT(server.reports(), IsEmpty());
}

std::string trouble_with(std::string const& certificate, std::string const& key) {
  auto const tls = http::ServerTls::open({certificate, key});
  return tls ? "" : tls.error().message;
}

/// Writes a key of another kind than those of the identities. `cipher` encrypts it, unless null.
void write_rsa_key(std::string const& file, EVP_CIPHER const* cipher) {
  std::unique_ptr<EVP_PKEY, void (*)(EVP_PKEY*)> const key{
      EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", std::size_t{2048}), EVP_PKEY_free};
  std::unique_ptr<BIO, void (*)(BIO*)> const out{BIO_new_file(file.c_str(), "wb"), BIO_free_all};
  std::vector<unsigned char> password{'x', 'y', 'z', 'z', 'y'};
  PEM_write_bio_PrivateKey(out.get(),
                           key.get(),
                           cipher,
                           cipher == nullptr ? nullptr : password.data(),
                           cipher == nullptr ? 0 : static_cast<int>(password.size()),
                           nullptr,
                           nullptr);
}

TEST_F(HttpTls, NamesTheBadFile) {
  auto const nowhere = (folder_ / "nowhere.pem").string();
  auto const text = (folder_ / "text.pem").string();
  auto const rsa = (folder_ / "rsa.pem").string();
  auto const locked = (folder_ / "locked.pem").string();
  std::ofstream{text} << "no certificate\n";
  write_rsa_key(rsa, nullptr);
  write_rsa_key(locked, EVP_aes_128_cbc());
  auto const no_key_of_it =
      "allowed the private key of " + certificate_ + ", PEM, without a password";

  EXPECT_EQ(trouble_with(certificate_, key_), "");
  EXPECT_THAT(trouble_with(nowhere, key_),
              AllOf(StartsWith(nowhere + ": No such file"),
                    HasSubstr("allowed a chain of certificates, PEM")));
  EXPECT_THAT(trouble_with(text, key_), StartsWith(text + ": found no start line"));
  EXPECT_THAT(trouble_with(certificate_, nowhere),
              AllOf(StartsWith(nowhere + ": No such file"), HasSubstr(no_key_of_it)));
  EXPECT_THAT(trouble_with(certificate_, text), AllOf(StartsWith(text), HasSubstr(no_key_of_it)));
  EXPECT_THAT(trouble_with(certificate_, second_.key),
              StartsWith(second_.key.string() + ": found key values mismatch"));
  EXPECT_THAT(trouble_with(certificate_, rsa), AllOf(StartsWith(rsa), HasSubstr(no_key_of_it)));
  EXPECT_THAT(trouble_with(certificate_, locked),
              AllOf(StartsWith(locked), HasSubstr(no_key_of_it)));
}

TEST_F(HttpTls, RefusesAPipeAtOnce) {
  auto const pipe = (folder_ / "pipe.pem").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(trouble_with(pipe, key_),
            pipe + ": is not a regular file, allowed a chain of certificates, PEM");
  EXPECT_THAT(trouble_with(certificate_, pipe),
              StartsWith(pipe + ": is not a regular file, allowed the private key of "));
}

TEST_F(HttpTls, KeepsCertificateAndReportsOnceWhenRenewedOneIsAPipe) {
  LiveServer server{say_target, {}, endpoint()};
  fs::remove(certificate_);
  ASSERT_EQ(::mkfifo(certificate_.c_str(), 0600), 0);

  EXPECT_TRUE(is(first_, server.port()));
  EXPECT_TRUE(is(first_, server.port()));

  EXPECT_THAT(
      server.reports(),
      ElementsAre(StartsWith("http certificate not renewed, the previous one stays in use: " +
                             certificate_ + ": is not a regular file")));
}

TEST_F(HttpTls, HasEndOfCertificate) {
  auto const left = http::ServerTls::open({certificate_, key_}).value().expires() -
                    std::chrono::system_clock::now();
  EXPECT_GT(left, 364 * 24h);
  EXPECT_LE(left, 365 * 24h);
}

}  // namespace
}  // namespace torchwatch::tests
