#include "daemon/report/email.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/asio/this_coro.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "daemon/async/watchdog.h"
#include "github/issue.h"
#include "github/markdown.h"
#include "runner/process/child_process.h"

namespace torchwatch::report {
namespace asio = boost::asio;

namespace {

/// The longest time of sendmail. It only puts the message into a queue.
constexpr std::chrono::seconds sendmail_limit{60};
/// The exit status of sendmail for a failure that may end (EX_TEMPFAIL of sysexits.h).
constexpr int temporary_failure = 75;
/// The longest line of an encoded text (RFC 2045).
constexpr std::size_t longest_line = 76;
/// Bytes of a subject in one encoded word, of which each becomes three characters at most. An
/// encoded word has at most 75 characters (RFC 2047).
constexpr std::size_t encoded_word_bytes = 20;

std::string escaped_byte(char byte) {
  return fmt::format("={:02X}", static_cast<unsigned char>(byte));
}

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// A byte of a line in quoted-printable. Blanks at the end of a line would be lost.
std::string quoted_byte(char byte, bool is_last) {
  bool const is_plain = byte > ' ' && byte <= '~' && byte != '=';
  bool const is_inner_blank = byte == ' ' && !is_last;
  return is_plain || is_inner_blank ? std::string{byte} : escaped_byte(byte);
}

std::string quoted_line(std::string_view line) {
  std::string text;
  std::size_t column = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    auto const next = quoted_byte(line[i], i + 1 == line.size());
    if (column + next.size() >= longest_line) {
      text += "=\n";
      column = 0;
    }
    text += next;
    column += next.size();
  }
  return text + "\n";
}

/// `text` in quoted-printable (RFC 2045).
std::string quoted_printable(std::string_view text) {
  std::string quoted;
  while (!text.empty()) {
    auto const end = std::min(text.find('\n'), text.size());
    quoted += quoted_line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return quoted;
}

std::string encoded_word(std::string_view text) {
  std::string word = "=?utf-8?Q?";
  for (char const c : text)
    word += c == ' ' ? "_" : is_letter_or_digit(c) ? std::string{c} : escaped_byte(c);
  return word + "?=";
}

/// A text in a header line: as it is if it is short ASCII, else as encoded words, one a line.
std::string header_text(std::string_view text) {
  bool const is_ascii = std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
  if (is_ascii && text.size() < longest_line && text.find("=?") == std::string_view::npos)
    return std::string{text};
  std::string words;
  while (!text.empty()) {
    auto const part = github::clip(text, encoded_word_bytes);
    words += (words.empty() ? "" : "\n ") + encoded_word(part);
    text.remove_prefix(part.size());
  }
  return words;
}

std::string message_id(std::string_view marker, std::string const& sender) {
  auto const domain = sender.substr(sender.find('@') + 1);
  return "<" + std::string{github::digits_in(marker)} + "@" + domain + ">";
}

std::string joined_addresses(std::vector<std::string> const& addresses) {
  std::string text;
  for (auto const& address : addresses)
    text += (text.empty() ? "" : ",\n ") + address;
  return text;
}

std::string date_header(Timestamp now) {
  // The names of days and months are those of the C locale, which fmt uses.
  return fmt::format("{:%a, %d %b %Y %H:%M:%S +0000}",
                     fmt::gmtime(std::time_t{now.time_since_epoch().count()}));
}

process::Command sendmail_command(config::EmailOptions const& options) {
  process::Command command;
  command.argv = {options.sendmail, "-i", "-f", options.from, "--"};
  command.argv.insert(command.argv.end(), options.to.begin(), options.to.end());
  command.stdout_file = "/dev/null";
  return command;
}

Error sendmail_error(process::ExitStatus status, std::string const& errors) {
  bool const is_temporary = status.code == temporary_failure || status.signal != 0;
  auto const said = github::one_line(errors);
  return {is_temporary ? ErrorCode::unavailable : ErrorCode::refused,
          "sendmail: " + process::describe(status) + (said.empty() ? "" : ": " + said)};
}

}  // namespace

std::string email_of(OutboxMessage const& message,
                     config::EmailOptions const& options,
                     std::string const& first_marker,
                     Timestamp now) {
  auto text = fmt::format("From: torchwatch <{}>\nTo: {}\nSubject: {}\nDate: {}\nMessage-ID: {}\n",
                          options.from,
                          joined_addresses(options.to),
                          header_text("[torchwatch] " + message.title),
                          date_header(now),
                          message_id(message.marker, options.from));
  if (!first_marker.empty() && first_marker != message.marker) {
    auto const first = message_id(first_marker, options.from);
    text += fmt::format("In-Reply-To: {}\nReferences: {}\n", first, first);
  }
  text +=
      "Auto-Submitted: auto-generated\nMIME-Version: 1.0\n"
      "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: quoted-printable\n\n";
  return text + quoted_printable(message.body);
}

asio::awaitable<Result<Delivery>> EmailDestination::deliver(OutboxMessage const& message,
                                                            DeliveryContext context) {
  auto text = email_of(message, options_, context.first_marker, clock_.now());
  text.pop_back();  // write_line adds it
  auto const executor = co_await asio::this_coro::executor;
  auto command = sendmail_command(options_);
  auto program = process::ChildProcess::start(executor, std::move(command));
  if (!program) co_return within("sendmail", program.error());
  if (context.sent.store) context.sent.store(clock_.now());
  async::Limits limits{sendmail_limit, {}};
  async::Watchdog const watchdog{executor, std::move(limits), *program};
  // A program that ends early says why by its exit status.
  auto const written = co_await program->write_line(std::move(text));
  program->close_stdin();
  auto const status = co_await program->wait();
  if (!watchdog.complaint().empty())
    co_return Error{ErrorCode::unavailable, "sendmail " + watchdog.complaint()};
  if (status.code != 0 || status.signal != 0)
    co_return sendmail_error(status, program->last_stderr());
  if (!written) co_return within("sendmail", written.error());
  Delivery delivery;
  delivery.place = message_id(message.marker, options_.from);
  co_return delivery;
}

}  // namespace torchwatch::report
