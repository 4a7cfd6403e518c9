#include <optional>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <nlohmann/json.hpp>
#include <openssl/crypto.h>
#include <spdlog/spdlog.h>

#include "daemon/api/routes.h"
#include "daemon/http/http_server.h"
#include "tests/api/stored_story.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"
#include "tests/temporary_folder.h"

namespace torchwatch::fuzz {
namespace {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using asio::ip::tcp;

/// Returns errors as values: a broken connection counts as an ended one.
constexpr auto as_values = asio::as_tuple(asio::use_awaitable);

/// The service's server and API on a store with sample data, and a client. All run on one thread.
class Exchange {
 public:
  Exchange() {
    spdlog::set_level(spdlog::level::off);
    // This object lives to the end of the program, when its store computes a digest. OpenSSL must
    // be initialized earlier, so that it is still there.
    ::OPENSSL_init_crypto(OPENSSL_INIT_ADD_ALL_DIGESTS, nullptr);
    options_.precheck = [this](http::HttpRequest const& head) {
      return api_.check_request(head);
    };
    options_.report = [this](std::string const& line) {
      failure_ = line;
    };
    http::Handler handler = [this](http::HttpRequest request) {
      return api_.handle(std::move(request));
    };
    asio::co_spawn(loop_,
                   http::serve_http(std::move(served_), std::move(handler), options_),
                   asio::bind_cancellation_slot(stop_.slot(), asio::detached));
  }

  Exchange(Exchange const&) = delete;
  Exchange& operator=(Exchange const&) = delete;

  /// Ends the server while the objects that it uses still exist.
  ~Exchange() {
    stop_.emit(asio::cancellation_type::terminal);
    loop_.run();
  }

  /// Returns all bytes that the server sends in response to `input`.
  std::string answer_to(std::string_view input) {
    failure_.clear();
    std::optional<std::string> answer;
    asio::co_spawn(loop_, ask(std::string{input}), [&](std::exception_ptr broken, std::string got) {
      if (broken) std::rethrow_exception(broken);
      answer = std::move(got);
    });
    while (!answer)
      loop_.run_one();
    while (loop_.poll_one() > 0) {
    }
    require(failure_.empty(), "the service handles the request: " + failure_);
    return *answer;
  }

 private:
  asio::awaitable<std::string> ask(std::string input) {
    tcp::socket socket{loop_};
    co_await socket.async_connect(endpoint_, asio::use_awaitable);
    socket.set_option(asio::socket_base::linger{true, 0});  // frees the port at once
    auto const bytes = asio::buffer(input);
    co_await asio::async_write(socket, bytes, as_values);
    boost::system::error_code ignored;
    socket.shutdown(tcp::socket::shutdown_send, ignored);
    std::string answer;
    auto space = asio::dynamic_buffer(answer);
    co_await asio::async_read(socket, space, as_values);
    co_return answer;
  }

  static api::Requests requests() {
    api::Requests requests;
    requests.bisection = [](BisectionOrder const&) -> asio::awaitable<Result<Bisection>> {
      co_return Bisection{};
    };
    requests.steering = [](BisectionId, BisectionState) -> asio::awaitable<Result<Bisection>> {
      co_return Bisection{};
    };
    requests.build_action =
        [](builds::BuildRequest const&) -> asio::awaitable<Result<std::vector<KeptBuild>>> {
      co_return std::vector<KeptBuild>{};
    };
    requests.ruling = [](Ruling ruling) -> asio::awaitable<Result<Ruling>> {
      co_return ruling;
    };
    return requests;
  }

  static api::ApiOptions api_options() {
    api::ApiOptions options;
    options.access.token = "t";
    options.fleets.resize(1);
    options.version = "1";
    options.access.hosts = {"x"};
    return options;
  }

  static storage::Store filled(std::filesystem::path const& database) {
    auto store = storage::Store::open(database).value();
    tests::store_story(store);
    return store;
  }

  tests::TemporaryFolder folder_;
  storage::Store store_ = filled(folder_.database());
  tests::FixedClock clock_;
  api::SharedHealth health_;
  metrics::Counters counters_;
  api::Api api_{store_, clock_, health_, counters_, requests(), api_options()};
  asio::io_context loop_{1};
  http::Endpoint served_{http::Listener::at_address(loop_.get_executor(), "127.0.0.1", 0).value(),
                         {}};
  tcp::endpoint endpoint_{asio::ip::address_v4::loopback(), served_.listener.port()};
  asio::cancellation_signal stop_;
  http::HttpServerOptions options_;
  std::string failure_;
};

/// Checks that the first response is whole and matches its content type.
void check_first(std::string const& answer, bool has_body) {
  beast_http::response_parser<beast_http::string_body> parser;
  parser.skip(!has_body);
  parser.eager(true);
  boost::system::error_code bad;
  auto const size = parser.put(asio::buffer(answer), bad);
  require(!bad && size > 0 && parser.is_done(), "an answer is a whole response");
  auto const& response = parser.get();
  require(
      response.result_int() < 500 || response.result_int() == 501 || response.result_int() == 503,
      "no request causes an internal error");
  if (has_body && response[beast_http::field::content_type].find("json") != std::string_view::npos)
    require(nlohmann::json::accept(response.body()), "an answer is JSON");
}

}  // namespace

/// The bytes that a client sends on one connection.
void http_request(std::string_view input) {
  static Exchange exchange;
  auto const answer = exchange.answer_to(input);
  bool const may_be_empty = input.find("HEAD") != std::string_view::npos;
  bool const goes_on = answer.starts_with("HTTP/1.1 100");
  if (!answer.empty() && !goes_on) check_first(answer, !may_be_empty);
}

}  // namespace torchwatch::fuzz
