#include "tests/fakes/downloads/download_host.h"

#include <algorithm>
#include <fstream>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/crc.hpp>

namespace torchwatch::fakes {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace beast_http = beast::http;
namespace ssl = asio::ssl;
using asio::ip::tcp;
using WireRequest = beast_http::request<beast_http::empty_body>;
using WireHead = beast_http::response<beast_http::empty_body>;

/// The head of a response, and the bytes to send after it.
struct Answer {
  WireHead head;
  std::int64_t start = 0;
  std::int64_t length = 0;
  std::string error{};  ///< sent instead of the file
};

std::int64_t size_of(HostedFile const& file) {
  return static_cast<std::int64_t>(file.path.empty() ? file.content.size()
                                                     : std::filesystem::file_size(file.path));
}

std::string header_of(HostRequest const& request, std::string const& name) {
  auto const found = request.headers.find(name);
  return found == request.headers.end() ? "" : found->second;
}

/// Returns 5 for "bytes=5-". Returns nothing for other forms, which torchwatch does not request.
std::optional<std::int64_t> start_in(std::string const& range) {
  std::string const unit = "bytes=";
  if (!range.starts_with(unit) || !range.ends_with('-')) return std::nullopt;
  return std::stoll(range.substr(unit.size()));
}

bool is_known(HostedFile const& file, HostRequest const& request) {
  auto const etag = header_of(request, "if-none-match");
  if (!etag.empty()) return etag == file.etag;
  auto const date = header_of(request, "if-modified-since");
  return !date.empty() && date == file.last_modified;
}

/// True when a range may be sent: its version is the client's, or the client named no version.
bool may_be_a_range(HostedFile const& file, HostRequest const& request) {
  auto const condition = header_of(request, "if-range");
  return file.has_ranges &&
         (condition.empty() || condition == file.etag || condition == file.last_modified);
}

void name_version(WireHead& head, HostedFile const& file) {
  if (!file.etag.empty()) head.set(beast_http::field::etag, file.etag);
  if (!file.last_modified.empty()) head.set(beast_http::field::last_modified, file.last_modified);
}

/// Returns an error page like those of S3 and CloudFront.
std::string error_page(int status) {
  std::string const code = status == 403   ? "AccessDenied"
                           : status == 404 ? "NoSuchKey"
                                           : "InternalError";
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error><Code>" + code + "</Code></Error>";
}

Answer error_answer(int status, HostRequest const& request, WireHead head) {
  Answer answer;
  auto const page = error_page(status);
  head.result(static_cast<unsigned>(status));
  head.set(beast_http::field::content_type, "application/xml");
  head.content_length(page.size());
  answer.head = std::move(head);
  if (request.method != "HEAD") answer.error = page;
  return answer;
}

std::string little_endian(std::size_t number, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i)
    text += static_cast<char>((number >> (8 * i)) & 0xffU);
  return text;
}

/// Returns a gzip file (RFC 1952) with the text, stored without compression.
std::string gzip_of(std::string const& text) {
  constexpr std::size_t longest_block = 65'535;
  std::string gzip{"\x1f\x8b\x08\0\0\0\0\0\0\xff", 10};
  for (std::size_t at = 0; at == 0 || at < text.size(); at += longest_block) {
    auto const block = text.substr(at, longest_block);
    bool const is_last = at + block.size() == text.size();
    gzip += is_last ? '\1' : '\0';
    gzip += little_endian(block.size(), 2) + little_endian(~block.size(), 2) + block;
  }
  boost::crc_32_type checksum;
  checksum.process_bytes(text.data(), text.size());
  return gzip + little_endian(checksum.checksum(), 4) + little_endian(text.size(), 4);
}

Answer answer_to(DownloadHost::Reply const& reply, HostRequest const& request) {
  Answer answer;
  auto& head = answer.head;
  head.keep_alive(false);
  head.content_length(0);
  if (!reply.fault.retry_after.empty()) head.set("Retry-After", reply.fault.retry_after);
  if (reply.fault.status != 0) return error_answer(reply.fault.status, request, head);
  if (!reply.file) return error_answer(reply.missing_status, request, head);
  auto const& file = *reply.file;
  if (!file.redirect.empty()) {
    head.result(beast_http::status::found);
    head.set(beast_http::field::location, file.redirect);
    return answer;
  }
  name_version(head, file);
  if (is_known(file, request)) {
    head.result(beast_http::status::not_modified);
    return answer;
  }
  auto const size = size_of(file);
  auto const start = start_in(header_of(request, "range"));
  bool const is_range = start && may_be_a_range(file, request);
  if (is_range && *start >= size) {
    head.result(beast_http::status::range_not_satisfiable);
    head.set(beast_http::field::content_range, "bytes */" + std::to_string(size));
    return answer;
  }
  answer.start = is_range ? *start : 0;
  answer.length = size - answer.start;
  head.result(is_range ? beast_http::status::partial_content : beast_http::status::ok);
  if (is_range)
    head.set(beast_http::field::content_range,
             "bytes " + std::to_string(*start) + "-" + std::to_string(size - 1) + "/" +
                 std::to_string(size));
  if (file.is_gzipped) head.set(beast_http::field::content_encoding, "gzip");
  auto const length = reply.fault.length.value_or(answer.length);
  head.content_length(static_cast<std::uint64_t>(length));
  answer.length = std::min(answer.length, length);
  if (request.method == "HEAD") answer.length = 0;
  return answer;
}

HostRequest plain_request(WireRequest const& wire) {
  HostRequest request{std::string{wire.method_string()}, std::string{wire.target()}, {}};
  for (auto const& field : wire)
    request.headers[boost::to_lower_copy(std::string{field.name_string()})] =
        std::string{field.value()};
  return request;
}

/// Sends `length` bytes of a file from `start` on.
template <class Stream>
asio::awaitable<void> send(Stream& stream,
                           HostedFile const& file,
                           std::int64_t start,
                           std::int64_t length) {
  std::ifstream source;
  if (!file.path.empty()) {
    source.open(file.path, std::ios::binary);
    source.seekg(start);
  }
  std::string piece;
  for (std::int64_t sent = 0; sent < length; sent += static_cast<std::int64_t>(piece.size())) {
    piece.resize(static_cast<std::size_t>(std::min(file.piece, length - sent)));
    if (file.path.empty())
      piece = file.content.substr(static_cast<std::size_t>(start + sent), piece.size());
    else
      source.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    auto const buffer = asio::buffer(piece);
    co_await asio::async_write(stream, buffer, asio::use_awaitable);
    if (file.pause.count() == 0) continue;
    asio::steady_timer timer{stream.get_executor(), file.pause};
    co_await timer.async_wait(asio::use_awaitable);
  }
}

/// Answers the one request of a connection. Throws system_error.
template <class Stream>
asio::awaitable<void> converse(Stream& stream, DownloadHost& host) {
  beast::flat_buffer buffer;
  WireRequest wire;
  co_await beast_http::async_read(stream, buffer, wire, asio::use_awaitable);
  auto const request = plain_request(wire);
  auto const reply = host.reply_to(request);
  if (reply.fault.delay.count() > 0) {
    asio::steady_timer timer{stream.get_executor(), reply.fault.delay};
    co_await timer.async_wait(asio::use_awaitable);
  }
  auto const answer = answer_to(reply, request);
  beast_http::response_serializer<beast_http::empty_body> head{answer.head};
  co_await beast_http::async_write_header(stream, head, asio::use_awaitable);
  auto const error = asio::buffer(answer.error);
  if (!answer.error.empty()) co_await asio::async_write(stream, error, asio::use_awaitable);
  if (answer.length == 0) co_return;
  auto const length = std::min(answer.length, reply.fault.drop_after.value_or(answer.length));
  co_await send(stream, *reply.file, answer.start, length);
}

asio::awaitable<void> serve_tls(tcp::socket socket, ssl::context& context, DownloadHost& host) {
  ssl::stream<beast::tcp_stream> stream{beast::tcp_stream{std::move(socket)}, context};
  co_await stream.async_handshake(ssl::stream_base::server, asio::use_awaitable);
  co_await converse(stream, host);
  co_await stream.async_shutdown(asio::use_awaitable);
}

asio::awaitable<void> serve_plain(tcp::socket socket, DownloadHost& host) {
  beast::tcp_stream stream{std::move(socket)};
  co_await converse(stream, host);
  stream.socket().shutdown(tcp::socket::shutdown_send);
}

}  // namespace

DownloadHost::DownloadHost(std::optional<ServerIdentity> const& identity)
    : context_{identity ? std::optional{context_of(*identity)} : std::nullopt},
      server_{[this](tcp::socket socket) {
        return context_ ? serve_tls(std::move(socket), *context_, *this)
                        : serve_plain(std::move(socket), *this);
      }},
      url_{(identity ? "https://127.0.0.1:" : "http://127.0.0.1:") +
           std::to_string(server_.port())} {}

void DownloadHost::host(std::string const& target, HostedFile file) {
  if (file.is_gzipped) file.content = gzip_of(file.content);
  std::scoped_lock const lock{mutex_};
  files_[target] = std::move(file);
}

void DownloadHost::remove(std::string const& target) {
  std::scoped_lock const lock{mutex_};
  files_.erase(target);
}

void DownloadHost::deny_missing() {
  std::scoped_lock const lock{mutex_};
  missing_status_ = 403;
}

void DownloadHost::fail(std::vector<HostFault> faults) {
  std::scoped_lock const lock{mutex_};
  faults_.insert(faults_.end(), faults.begin(), faults.end());
}

std::vector<HostRequest> DownloadHost::requests() const {
  std::scoped_lock const lock{mutex_};
  return requests_;
}

DownloadHost::Reply DownloadHost::reply_to(HostRequest request) {
  std::scoped_lock const lock{mutex_};
  Reply reply;
  reply.missing_status = missing_status_;
  if (!faults_.empty()) {
    reply.fault = faults_.front();
    faults_.pop_front();
  }
  if (auto const found = files_.find(request.target); found != files_.end())
    reply.file = found->second;
  requests_.push_back(std::move(request));
  return reply;
}

}  // namespace torchwatch::fakes
