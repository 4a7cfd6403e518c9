#include "daemon/http/http_server.h"

#include <chrono>
#include <memory>
#include <semaphore>
#include <stdexcept>
#include <string>
#include <vector>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/api/http_client.h"
#include "tests/api/live_server.h"

namespace torchwatch::tests {
namespace {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using http::HttpRequest;
using http::HttpResponse;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

asio::awaitable<void> pass(std::chrono::milliseconds time) {
  asio::steady_timer timer{co_await asio::this_coro::executor, time};
  co_await timer.async_wait(asio::use_awaitable);
}

/// A response without an end, which signals when its client leaves.
struct Stream {
  HttpResponse answer() {
    HttpResponse response;
    response.headers["content-type"] = "text/event-stream";
    response.body = "first\n";
    response.more = [listener =
                         std::make_shared<Listener>(*this)]() -> asio::awaitable<std::string> {
      auto& stream = listener->stream;
      if (stream.pieces.empty()) co_await pass(1h);
      auto piece = stream.pieces.front();
      stream.pieces.erase(stream.pieces.begin());
      co_return piece;
    };
    return response;
  }

  struct Listener {
    explicit Listener(Stream& owner) : stream{owner} {}

    Listener(Listener const&) = delete;
    Listener& operator=(Listener const&) = delete;

    ~Listener() { stream.left.release(); }

    Stream& stream;
  };

  http::Handler handler() {
    return [this](HttpRequest) -> asio::awaitable<HttpResponse> {
      co_return answer();
    };
  }

  std::vector<std::string> pieces;  // after the last one, it waits
  std::binary_semaphore left{0};
};

/// Returns the request as text. "/slow" takes 200 ms, "/endless" waits until it is cancelled,
/// "/throw" throws.
asio::awaitable<HttpResponse> echo(HttpRequest request) {
  if (request.target == "/slow") co_await pass(200ms);
  if (request.target == "/endless") co_await pass(1h);
  if (request.target.starts_with("/throw")) throw std::runtime_error("the disk is full");
  HttpResponse response;
  response.headers["content-type"] = "text/plain";
  response.body = request.method + " " + request.target + " " + request.body;
  for (auto const& [name, value] : request.headers)
    if (name.starts_with("x-")) response.body += " " + name + "=" + value;
  co_return response;
}

/// Echoes, and signals when a request has arrived.
struct SignalingEcho {
  http::Handler handler() {
    return [this](HttpRequest request) {
      arrived.release();
      return echo(std::move(request));
    };
  }

  std::binary_semaphore arrived{0};
};

http::HttpServerOptions with_read_timeout(std::chrono::milliseconds time) {
  http::HttpServerOptions options;
  options.read_timeout = time;
  return options;
}

http::HttpServerOptions with_grace(std::chrono::milliseconds time) {
  http::HttpServerOptions options;
  options.grace = time;
  return options;
}

int status_in(Answer const& answer) {
  return nlohmann::json::parse(answer.body).at("status").get<int>();
}

TEST(HttpServer, SendsResponseOfHandler) {
  LiveServer const server{echo};

  auto const answer = ask(server.port(),
                          "POST /a%20b?c=d HTTP/1.1\r\nHost: x\r\nX-Two: 1\r\nx-two: 2\r\n"
                          "Content-Length: 5\r\n\r\nhello");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.body, "POST /a%20b?c=d hello x-two=1, 2");
  EXPECT_EQ(answer.headers.at("content-type"), "text/plain");
  EXPECT_EQ(answer.headers.at("content-length"), std::to_string(answer.body.size()));
  EXPECT_EQ(answer.headers.at("x-content-type-options"), "nosniff");
  EXPECT_THAT(answer.headers.at("date"),
              ::testing::MatchesRegex("[A-Z][a-z]{2}, [0-9]{2} [A-Z][a-z]{2} [0-9]{4} "
                                      "[0-9]{2}:[0-9]{2}:[0-9]{2} GMT"));
}

TEST(HttpServer, KeepsAConnectionForManyRequests) {
  LiveServer const server{echo};
  HttpClient client{server.port()};

  for (auto const* target : {"/1", "/2", "/3"})
    EXPECT_EQ(client.ask(get(target)).body, std::string{"GET "} + target + " ");
}

TEST(HttpServer, AnswersPipelinedRequestsInOrder) {
  LiveServer const server{echo};
  HttpClient client{server.port()};

  client.send(get("/slow") + get("/2") + get("/3"));

  EXPECT_EQ(client.receive().body, "GET /slow ");
  EXPECT_EQ(client.receive().body, "GET /2 ");
  EXPECT_EQ(client.receive().body, "GET /3 ");
}

TEST(HttpServer, ClosesConnectionOnRequest) {
  LiveServer const server{echo};
  for (auto const* request :
       {"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "GET / HTTP/1.0\r\n\r\n"}) {
    HttpClient client{server.port()};
    EXPECT_EQ(client.ask(request).status, 200);
    EXPECT_TRUE(client.is_hung_up());
  }
}

TEST(HttpServer, HeadIsGetWithoutTheBody) {
  LiveServer const server{echo};
  HttpClient client{server.port()};

  auto const answer = client.ask("HEAD /a HTTP/1.1\r\nHost: x\r\n\r\n");

  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.at("content-length"), std::to_string(std::string{"GET /a "}.size()));
  EXPECT_EQ(client.ask(get("/next")).body, "GET /next ");  // nothing was left on the line
}

TEST(HttpServer, ReadsChunkedBodies) {
  LiveServer const server{echo};

  auto const answer = ask(server.port(),
                          "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
                          "3\r\nhel\r\n2;note=x\r\nlo\r\n0\r\n\r\n");

  EXPECT_EQ(answer.body, "POST / hello");
}

TEST(HttpServer, ContinuesAfterExpect) {
  LiveServer const server{echo};
  HttpClient client{server.port()};

  auto const invitation =
      client.ask("POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  auto const answer = client.ask("ok");

  EXPECT_EQ(invitation.status, 100);
  EXPECT_EQ(answer.body, "POST / ok");
}

TEST(HttpServer, RefusesABodyThatIsTooLargeBeforeItIsSent) {
  LiveServer const server{echo};

  auto const answer = ask(server.port(),
                          "POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\n"
                          "Content-Length: 1048577\r\n\r\n");

  EXPECT_EQ(answer.status, 413);
  EXPECT_EQ(answer.headers.at("content-type"), "application/problem+json");
  EXPECT_EQ(status_in(answer), 413);
}

TEST(HttpServer, AClientThatGoesOnSendingATooLargeBodyStillReadsTheRefusal) {
  LiveServer const server{echo};
  HttpClient client{server.port()};

  std::string const body(2 << 20, 'x');
  client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2097152\r\n\r\n" + body);

  EXPECT_EQ(client.receive().status, 413);
}

TEST(HttpServer, AcceptsBodyOfExactlyTheLimit) {
  LiveServer const server{echo};

  std::string const body(1 << 20, 'x');
  auto const answer =
      ask(server.port(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1048576\r\n\r\n" + body);

  EXPECT_EQ(answer.status, 200);
}

TEST(HttpServer, ClosesConnectionOfSlowClient) {
  LiveServer const server{echo, with_read_timeout(150ms)};
  HttpClient client{server.port()};

  auto const request = get("/" + std::string(500, 'x'));  // ten seconds, at this pace
  std::size_t sent = 0;
  while (sent < request.size() && !client.is_hung_up(20ms) && client.send(request.substr(sent, 1)))
    ++sent;

  EXPECT_LT(sent, request.size());
}

TEST(HttpServer, ClosesIdleConnection) {
  LiveServer const server{echo, with_read_timeout(150ms)};
  HttpClient silent{server.port()};
  HttpClient spoke{server.port()};
  spoke.ask(get("/"));

  EXPECT_TRUE(silent.is_hung_up());
  EXPECT_TRUE(spoke.is_hung_up());
}

TEST(HttpServer, ServesOthersDuringSlowResponse) {
  LiveServer const server{echo, with_grace(0ms)};
  HttpClient slow{server.port()};
  slow.send(get("/endless"));

  EXPECT_EQ(ask(server.port(), get("/quick")).status, 200);
}

TEST(HttpServer, RefusesConnectionsBeyondLimit) {
  http::HttpServerOptions options;
  options.connections = 2;
  LiveServer const server{echo, options};
  {
    HttpClient first{server.port()};
    HttpClient second{server.port()};
    first.ask(get("/"));
    second.ask(get("/"));

    auto const answer = ask(server.port(), get("/"));

    EXPECT_EQ(answer.status, 503);
    EXPECT_EQ(status_in(answer), 503);
    EXPECT_EQ(answer.headers.at("retry-after"), "1");
  }
  int status = 503;
  for (int tries = 0; status == 503 && tries < 1000; ++tries)
    status = ask(server.port(), get("/")).status;
  EXPECT_EQ(status, 200);
}

TEST(HttpServer, ThrowingHandlerCauses500AndOneReportedLine) {
  LiveServer server{echo};
  HttpClient client{server.port()};

  auto const answer = client.ask(get("/throw?token=secret"));

  EXPECT_EQ(answer.status, 500);
  EXPECT_THAT(answer.body, ::testing::Not(HasSubstr("disk")));
  EXPECT_THAT(server.reports(), ElementsAre("http answer failed: GET /throw: the disk is full"));
  EXPECT_EQ(client.ask(get("/still/here")).status, 200);
}

TEST(HttpServer, StopsAtOnceWhenEveryClientIsIdle) {
  LiveServer server{echo, with_grace(1h)};
  HttpClient client{server.port()};
  client.ask(get("/"));
  HttpClient half{server.port()};
  half.send("GET / HT");

  EXPECT_FALSE(server.wait());

  EXPECT_TRUE(client.is_hung_up());
  EXPECT_THAT(server.reports(), IsEmpty());
}

TEST(HttpServer, FinishesResponsesInProgressBeforeItStops) {
  SignalingEcho signaling;
  LiveServer server{signaling.handler(), with_grace(1h)};
  HttpClient client{server.port()};
  client.send(get("/slow"));
  signaling.arrived.acquire();

  server.cancel();
  auto const answer = client.receive();

  EXPECT_EQ(answer.body, "GET /slow ");
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_TRUE(client.is_hung_up());
  EXPECT_FALSE(server.wait());
}

TEST(HttpServer, CancelsResponseAfterGrace) {
  SignalingEcho signaling;
  LiveServer server{signaling.handler(), with_grace(100ms)};
  HttpClient client{server.port()};
  client.send(get("/endless"));
  signaling.arrived.acquire();

  auto const begin = std::chrono::steady_clock::now();
  EXPECT_FALSE(server.wait());

  EXPECT_GE(std::chrono::steady_clock::now() - begin, 100ms);
  EXPECT_TRUE(client.is_hung_up());
  EXPECT_EQ(server.reports().size(), 1U);
}

TEST(HttpServer, RefusesNewClientsOnceItStops) {
  LiveServer server{echo};
  server.wait();

  EXPECT_THROW(HttpClient{server.port()}, std::runtime_error);
}

TEST(HttpStream, IsSentInPiecesUntilAnEmptyOne) {
  Stream stream;
  stream.pieces = {"second\n", "third\n", ""};
  LiveServer server{stream.handler()};
  HttpClient client{server.port()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  auto const answer = client.receive();
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.headers.count("content-length"), 0U);
  EXPECT_EQ(answer.headers.at("connection"), "close");
  EXPECT_EQ(answer.body, "first\nsecond\nthird\n");
}

TEST(HttpStream, EndsWhenItsClientLeaves) {
  Stream stream;
  LiveServer server{stream.handler()};
  {
    HttpClient client{server.port()};
    ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
    EXPECT_FALSE(client.is_hung_up(200ms));
  }
  EXPECT_TRUE(stream.left.try_acquire_for(5s));
  EXPECT_THAT(server.reports(), IsEmpty());
}

TEST(HttpStream, DoesNotDelayStopOfServer) {
  Stream stream;
  LiveServer server{stream.handler()};
  HttpClient client{server.port()};
  ASSERT_TRUE(client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_FALSE(client.is_hung_up(200ms));
  auto const began = std::chrono::steady_clock::now();
  EXPECT_EQ(server.wait(), nullptr);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 3s);
  EXPECT_THAT(server.reports(), IsEmpty());
}

TEST(HttpStream, HasNoBodyForHead) {
  Stream stream;
  LiveServer server{stream.handler()};
  HttpClient client{server.port()};
  ASSERT_TRUE(client.send("HEAD / HTTP/1.1\r\nHost: x\r\n\r\n"));
  EXPECT_EQ(client.receive(true).status, 200);
  EXPECT_TRUE(client.is_hung_up());
}

}  // namespace
}  // namespace torchwatch::tests
