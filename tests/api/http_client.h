#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace torchwatch::tests {

struct Answer {
  int status = 0;  ///< 0: none came before the server hung up or patience ended
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// A blocking client that sends exactly the bytes it is given. Never waits longer than ten seconds.
class HttpClient {
 public:
  /// `from`: the address of this machine that it calls from; empty: any.
  explicit HttpClient(std::uint16_t port, std::string const& from = "");
  /// At a Unix socket.
  static HttpClient at(std::string const& path);
  HttpClient(HttpClient&& other) noexcept;
  HttpClient(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient();

  /// False when the server has hung up.
  bool send(std::string_view bytes);
  /// The next answer. `to_head`: it has no body, whatever its length says.
  Answer receive(bool to_head = false);
  /// Everything up to `end` and with it, of an answer without an end; less when the server stops.
  std::string read_until(std::string_view end);
  /// Whether the server hangs up, without another byte, within `patience`.
  bool is_hung_up(std::chrono::milliseconds patience = std::chrono::seconds{10});

  /// Sends a request and returns its answer, on this connection.
  Answer ask(std::string_view bytes);

 private:
  struct Connected {
    int socket;
  };

  explicit HttpClient(Connected connected) : socket_{connected.socket} {}

  /// Waits for bytes and appends them to unread_; false when there are none.
  bool fill(std::chrono::milliseconds patience);

  int socket_;
  std::string unread_;
};

/// One request on a connection of its own.
Answer ask(std::uint16_t port, std::string_view bytes);

/// GET of `target`, with the header fields that a request must have.
std::string get(std::string_view target);

}  // namespace torchwatch::tests
