#include "tests/api/http_client.h"

#include <array>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/beast/http.hpp>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/api/answer_log.h"

namespace torchwatch::tests {
namespace {

namespace beast_http = boost::beast::http;

constexpr std::chrono::seconds patience{10};

}  // namespace

HttpClient::HttpClient(std::uint16_t port, std::string const& from)
    : socket_{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)} {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  // NOLINTNEXTLINE(bugprone-casting-through-void): how addresses of all families are handed over
  auto const* const generic = static_cast<sockaddr const*>(static_cast<void const*>(&address));
  if (!from.empty()) {
    ::inet_pton(AF_INET, from.c_str(), &address.sin_addr);
    if (::bind(socket_, generic, sizeof address) != 0)
      throw std::runtime_error("cannot call from " + from);
  }
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, generic, sizeof address) != 0)
    throw std::runtime_error("no server listens on port " + std::to_string(port));
}

HttpClient HttpClient::at(std::string const& path) {
  HttpClient client{Connected{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)}};
  boost::asio::local::stream_protocol::endpoint const place{path};
  if (::connect(client.socket_, place.data(), static_cast<socklen_t>(place.size())) != 0)
    throw std::runtime_error("no server listens at " + path);
  return client;
}

HttpClient::HttpClient(HttpClient&& other) noexcept
    : socket_{std::exchange(other.socket_, -1)},
      unread_{std::move(other.unread_)} {}

HttpClient::~HttpClient() {
  if (socket_ >= 0) ::close(socket_);
}

bool HttpClient::send(std::string_view bytes) {
  while (!bytes.empty()) {
    auto const sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool HttpClient::fill(std::chrono::milliseconds patience) {
  pollfd waiting{socket_, POLLIN, 0};
  if (::poll(&waiting, 1, static_cast<int>(patience.count())) != 1) return false;
  std::array<char, 65536> chunk{};
  auto const size = ::recv(socket_, chunk.data(), chunk.size(), 0);
  if (size <= 0) return false;
  unread_.append(chunk.data(), static_cast<std::size_t>(size));
  return true;
}

Answer HttpClient::receive(bool to_head) {
  beast_http::response_parser<beast_http::string_body> parser;
  parser.skip(to_head);
  parser.eager(true);
  while (!parser.is_done()) {
    boost::system::error_code failed;
    auto const used = parser.put(boost::asio::buffer(unread_), failed);
    unread_.erase(0, used);
    if (failed && failed != beast_http::error::need_more) return {};
    if (parser.is_done() || fill(patience)) continue;
    if (!parser.is_header_done()) return {};
    parser.put_eof(failed);  // the end of a response without a length
    if (failed || !parser.is_done()) return {};
  }
  Answer answer;
  answer.status = static_cast<int>(parser.get().result_int());
  for (auto const& field : parser.get())
    answer.headers[boost::to_lower_copy(std::string{field.name_string()})] =
        std::string{field.value()};
  answer.body = parser.get().body();
  return answer;
}

std::string HttpClient::read_until(std::string_view end) {
  while (unread_.find(end) == std::string::npos) {
    if (!fill(patience)) break;
  }
  auto const at = unread_.find(end);
  auto const size = at == std::string::npos ? unread_.size() : at + end.size();
  auto text = unread_.substr(0, size);
  unread_.erase(0, size);
  return text;
}

bool HttpClient::is_hung_up(std::chrono::milliseconds patience) {
  pollfd waiting{socket_, POLLIN, 0};
  if (!unread_.empty() || ::poll(&waiting, 1, static_cast<int>(patience.count())) != 1)
    return false;
  char byte = 0;
  return ::recv(socket_, &byte, 1, 0) <= 0;
}

Answer HttpClient::ask(std::string_view bytes) {
  send(bytes);
  auto answer = receive(bytes.starts_with("HEAD "));
  log_answer(bytes, answer);
  return answer;
}

Answer ask(std::uint16_t port, std::string_view bytes) {
  HttpClient client{port};
  return client.ask(bytes);
}

std::string get(std::string_view target) {
  return "GET " + std::string{target} + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
}

}  // namespace torchwatch::tests
