#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/net/curl_transport.h"
#include "github/client.h"
#include "tests/fakes/github/fake_github.h"
#include "tests/fakes/github/fake_github_server.h"
#include "tests/fakes/github/run.h"

namespace torchwatch::github {

inline boost::asio::awaitable<void> recorded_pause(std::vector<std::chrono::seconds>& pauses,
                                                   std::chrono::seconds pause) {
  pauses.push_back(pause);
  co_return;
}

/// The fake GitHub on a port of its own, and the real transport to it.
class WithFakeGithub : public testing::Test {
 public:
  WithFakeGithub(WithFakeGithub const&) = delete;
  WithFakeGithub& operator=(WithFakeGithub const&) = delete;

 protected:
  WithFakeGithub()
      : folder_{make_folder()},
        identity_{fakes::make_identity(folder_, {"127.0.0.1", "localhost"})},
        github_{folder_ / "state.json"},
        server_{std::make_unique<fakes::FakeGithubServer>(github_, identity_)} {}

  ~WithFakeGithub() override { std::filesystem::remove_all(folder_); }

  net::CurlTransport transport(std::chrono::seconds limit = std::chrono::seconds{10}) const {
    return net::CurlTransport{trusting(identity_, limit)};
  }

  static http::Options trusting(fakes::ServerIdentity const& identity,
                                std::chrono::seconds limit = std::chrono::seconds{10}) {
    http::Options options;
    options.ca_file = identity.ca.string();
    options.limit = limit;
    return options;
  }

  void change(nlohmann::json const& control) { github_.control(control, server_->url()); }

  void fail(nlohmann::json const& fault) { change({{"faults", nlohmann::json::array({fault})}}); }

  /// One request as the client would send it, with `headers` replaced; an empty value leaves a
  /// header out.
  Result<Response> ask(std::string const& method,
                       std::string const& target,
                       std::string const& body = {},
                       std::map<std::string, std::string> const& headers = {}) {
    Request request{method, server_->url() + target, {}, body};
    request.headers = {{"Accept", "application/vnd.github+json"},
                       {"Authorization", "Bearer t"},
                       {"User-Agent", "test"}};
    for (auto const& [name, value] : headers)
      request.headers[name] = value;
    auto https = transport();
    return fakes::run(https.send(std::move(request)));
  }

  std::filesystem::path folder_;
  fakes::ServerIdentity identity_;
  fakes::FakeGithub github_;
  std::unique_ptr<fakes::FakeGithubServer> server_;

 private:
  static std::filesystem::path make_folder() {
    auto name = std::filesystem::path{testing::TempDir()} / "fake-github-XXXXXX";
    auto text = name.string();
    if (mkdtemp(text.data()) == nullptr) throw std::runtime_error("cannot make " + text);
    return text;
  }
};

}  // namespace torchwatch::github
