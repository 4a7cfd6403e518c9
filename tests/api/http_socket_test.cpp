#include <filesystem>
#include <fstream>
#include <string>

#include <boost/asio/io_context.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "daemon/http/http_origin.h"
#include "daemon/http/listener.h"
#include "tests/api/http_client.h"
#include "tests/api/live_server.h"
#include "tests/temporary_folder.h"

// A server at a Unix socket: its file, and the clients that may connect.
namespace torchwatch::tests {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using ::testing::HasSubstr;

asio::awaitable<http::HttpResponse> say_host(http::HttpRequest request) {
  co_return http::HttpResponse{200, {}, request.headers["host"]};
}

class HttpSocket : public testing::Test {
 protected:
  MakeEndpoint endpoint() const {
    return [this](asio::any_io_executor const& executor) {
      return http::Endpoint{http::Listener::at_path(executor, path_).value(), std::nullopt};
    };
  }

  /// Returns the reason why a server cannot listen there; empty if it can.
  std::string trouble() const {
    asio::io_context loop{1};
    auto const listener = http::Listener::at_path(loop.get_executor(), path_);
    return listener ? "" : listener.error().message;
  }

  int status() const {
    auto const answer = http::ask_http({"unix:" + path_}, {"GET", "/", {}, ""});
    return answer ? answer->status : 0;
  }

  /// Leaves a socket, as a killed service does.
  void leave_a_socket() const {
    asio::io_context loop{1};
    asio::local::stream_protocol::acceptor const acceptor{loop, path_};
  }

  bool is_there() const { return fs::exists(fs::symlink_status(path_)); }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "http.sock";
};

TEST_F(HttpSocket, AnswersAndIsRemovedAtTheEnd) {
  {
    LiveServer const server{say_host, {}, endpoint()};
    EXPECT_EQ(status(), 200);
    auto client = HttpClient::at(path_);
    EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n").body, "x");
    EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: y\r\n\r\n").body, "y");
  }
  EXPECT_FALSE(is_there());
}

TEST_F(HttpSocket, IsForItsUserAndGroupWithAnyUmask) {
  for (mode_t const mask : {0U, 0077U, 0777U}) {
    auto const before = ::umask(mask);
    {
      LiveServer const server{say_host, {}, endpoint()};

      struct stat file {};

      EXPECT_EQ(::stat(path_.c_str(), &file), 0);
      EXPECT_EQ(file.st_mode & 07777U, 0660U) << mask;
    }
    ::umask(before);
  }
}

TEST_F(HttpSocket, ReplacesSocketOfKilledService) {
  leave_a_socket();
  ASSERT_TRUE(is_there());
  EXPECT_TRUE(http::check_socket_place(path_));
  EXPECT_TRUE(is_there()) << "the check changes nothing";

  LiveServer const server{say_host, {}, endpoint()};

  EXPECT_EQ(status(), 200);
}

TEST_F(HttpSocket, RefusesSocketInUse) {
  LiveServer const server{say_host, {}, endpoint()};
  EXPECT_EQ(trouble(), "unix:" + path_ + ": in use by another program");
  EXPECT_EQ(http::check_socket_place(path_).error().code, ErrorCode::unavailable);
  EXPECT_EQ(status(), 200);
}

TEST_F(HttpSocket, RefusesOtherFiles) {
  auto const expected =
      "unix:" + path_ + ": found a file that is not a socket, allowed a socket or no file";
  std::ofstream{path_} << "mine";
  EXPECT_EQ(trouble(), expected);
  EXPECT_EQ(text_of(path_), "mine");

  fs::remove(path_);
  fs::create_symlink("elsewhere", path_);
  EXPECT_EQ(trouble(), expected);
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(http::check_socket_place(path_).error().code, ErrorCode::refused);
}

TEST_F(HttpSocket, DoesNotRemoveFileOfAnotherProgram) {
  {
    LiveServer const server{say_host, {}, endpoint()};
    fs::remove(path_);
    std::ofstream{path_} << "mine";
  }
  EXPECT_EQ(text_of(path_), "mine");
}

TEST_F(HttpSocket, NeedsADirectory) {
  path_ = folder_ / "none/http.sock";
  EXPECT_THAT(trouble(), HasSubstr("none: No such file or directory"));
}

TEST_F(HttpSocket, CountsClientsAsUsersOfThisMachine) {
  http::HttpServerOptions options;
  options.connections = 3;
  options.kept_for_loopback = 3;
  options.connections_of_peer = 2;
  LiveServer const server{say_host, options, endpoint()};
  auto first = HttpClient::at(path_);
  auto second = HttpClient::at(path_);
  EXPECT_EQ(first.ask(get("/")).status, 200) << "all places are kept for this machine";
  EXPECT_EQ(second.ask(get("/")).status, 200);
  EXPECT_EQ(status(), 503) << "this user has two";
}

TEST(HttpOrigin, IsAUrlWithoutATrailingSlash) {
  for (auto const* const url : {"http://127.0.0.1:8917",
                                "https://watch.example:443",
                                "https://[::1]:8917",
                                "unix:/run/torchwatch/http.sock"})
    EXPECT_EQ(http::parse_origin(url).value().url, url);
  EXPECT_EQ(http::parse_origin("https://[::1]:8917/").value().url, "https://[::1]:8917");
}

TEST(HttpOrigin, AcceptsOnlyThreeForms) {
  for (auto const* const url : {"",
                                "localhost",
                                "http://localhost",
                                "ftp://localhost:21",
                                "unix:",
                                "unix:http.sock",
                                "https://user@host:1:2",
                                "http://h:1/path"}) {
    auto const origin = http::parse_origin(url);
    ASSERT_FALSE(origin) << url;
    EXPECT_EQ(
        origin.error().message,
        "server: found \"" + std::string{url} + "\", allowed http(s)://HOST:PORT or unix:/PATH");
  }
}

}  // namespace
}  // namespace torchwatch::tests
