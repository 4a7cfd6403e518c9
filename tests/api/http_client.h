#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace torchwatch::tests {

struct Answer {
  int status = 0;  ///< 0: no response before the server closed the connection or time ran out
  std::map<std::string, std::string> headers;  ///< names in lower case
  std::string body;
};

/// A blocking client that sends exactly the given bytes. Waits at most 10 s.
class HttpClient {
 public:
  /// Connects from the address `from` of this machine; empty: any.
  explicit HttpClient(std::uint16_t port, std::string const& from = "");
  /// Connects to a Unix socket.
  static HttpClient at(std::string const& path);
  HttpClient(HttpClient&& other) noexcept;
  HttpClient(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient const&) = delete;
  HttpClient& operator=(HttpClient&&) = delete;
  ~HttpClient();

  /// Returns false if the server has closed the connection.
  bool send(std::string_view bytes);
  /// Returns the next response. `to_head`: it has no body, even if it has a Content-Length.
  Answer receive(bool to_head = false);
  /// Returns everything up to and including `end` from a response without an end; less if the
  /// server stops.
  std::string read_until(std::string_view end);
  /// True if the server closes the connection within `patience`, without another byte.
  bool is_hung_up(std::chrono::milliseconds patience = std::chrono::seconds{10});

  /// Sends a request on this connection and returns its response.
  Answer ask(std::string_view bytes);

 private:
  struct Connected {
    int socket;
  };

  explicit HttpClient(Connected connected) : socket_{connected.socket} {}

  /// Waits for bytes and appends them to unread_. Returns false if there are none.
  bool fill(std::chrono::milliseconds patience);

  int socket_;
  std::string unread_;
};

/// Sends one request on its own connection, and returns its response.
Answer ask(std::uint16_t port, std::string_view bytes);

/// Returns a GET request of `target` with the header fields that a request must have.
std::string get(std::string_view target);

}  // namespace torchwatch::tests
