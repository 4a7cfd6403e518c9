#pragma once

#include <chrono>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "daemon/http/curl_transport.h"
#include "github/client.h"
#include "tests/fakes/github/fake_github.h"
#include "tests/fakes/github/fake_github_server.h"
#include "tests/fakes/github/run.h"
#include "tests/temporary_folder.h"

namespace torchwatch::github {

/// The fake GitHub on a port of its own, and the real transport to it.
class WithFakeGithub : public testing::Test {
 protected:
  WithFakeGithub()
      : identity_{fakes::make_identity(folder_.path(), {"127.0.0.1", "localhost"})},
        github_{folder_ / "state.json"},
        server_{std::make_unique<fakes::FakeGithubServer>(github_, identity_)} {}

  http::CurlTransport transport(std::chrono::seconds limit = std::chrono::seconds{10}) const {
    return http::CurlTransport{trusting(identity_, limit)};
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

  tests::TemporaryFolder folder_;
  fakes::ServerIdentity identity_;
  fakes::FakeGithub github_;
  std::unique_ptr<fakes::FakeGithubServer> server_;
};

}  // namespace torchwatch::github
