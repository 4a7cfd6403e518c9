#include "fetch/download.h"

#include <algorithm>
#include <exception>
#include <fstream>
#include <map>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "fetch/partial_file.h"
#include "http/client.h"
#include "http/url.h"
#include "storage/base/digest.h"
#include "storage/base/number.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

/// Returns the start of a range: 5 for "bytes 5-9/10".
std::optional<std::int64_t> start_of(std::string_view range) {
  constexpr std::string_view unit = "bytes ";
  if (!range.starts_with(unit)) return std::nullopt;
  range.remove_prefix(unit.size());
  return parse_number<std::int64_t>(range.substr(0, range.find('-')));
}

/// Returns the total of a range: 10 for "bytes 5-9/10".
std::optional<std::int64_t> whole_of(std::string_view range) {
  auto const slash = range.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return parse_number<std::int64_t>(range.substr(slash + 1));
}

bool is_redirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool may_pass(int status) {
  return status == 408 || status == 429 || status >= 500;
}

bool is_success(http::Response const& head) {
  return head.status == 200 || head.status == 206;
}

/// Returns the length of the body.
std::optional<std::int64_t> length_of(http::Response const& head) {
  return parse_number<std::int64_t>(http::header_of(head, "content-length"));
}

/// Returns the range in the response: "bytes 5-9/10", "bytes */10".
std::string range_of(http::Response const& head) {
  return http::header_of(head, "content-range");
}

Validators validators_of(http::Response const& head) {
  return {http::header_of(head, "etag"), http::header_of(head, "last-modified")};
}

/// The download of one file.
class Download {
 public:
  Download(DownloadRequest const& request,
           fs::path const& file,
           DownloadProgress const& on_progress)
      : request_{request},
        on_progress_{on_progress},
        part_{file},
        folder_{fs::absolute(file).parent_path()},
        deadline_{Clock::now() + request.limit} {}

  Result<Downloaded> run(http::Url const& url) {
    resumed_from_ = part_.size_of(request_.url);
    for (int failures = 0;;) {
      Attempt const attempt{have_, Clock::now()};
      auto const answer = follow(url);
      if (error_) return *error_;
      if (auto const end = end_of(answer)) return finish(*end, *answer);
      if (error_) return *error_;
      failures = is_worth(attempt) ? 1 : failures + 1;
      if (failures >= request_.attempts)
        return failed(ErrorCode::unavailable, trouble_with(answer));
      if (!rest(failures, answer))
        return failed(ErrorCode::unavailable, "it exceeded its time limit");
    }
  }

 private:
  /// The state before an attempt.
  struct Attempt {
    std::int64_t bytes = 0;
    Clock::time_point begin;
  };

  /// True when the attempt was at least as fast as required. A server that sends one byte and hangs
  /// up counts like one that sends nothing.
  bool is_worth(Attempt const& attempt) const {
    std::chrono::duration<double> const time = Clock::now() - attempt.begin;
    auto const least = static_cast<double>(request_.least_speed) * std::max(time.count(), 1.0);
    return static_cast<double>(have_ - attempt.bytes) >= least;
  }

  Error failed(ErrorCode code, std::string const& why) const {
    return {code, "download " + http::without_secrets(request_.url) + ": " + why};
  }

  /// Follows redirects, as far as they are allowed.
  Result<http::Response> follow(http::Url url) {
    constexpr int most_redirects = 5;
    for (int redirects = 0;; ++redirects) {
      auto answer = ask(url);
      if (error_ || !answer || !is_redirect(answer->status)) return answer;
      auto const next = http::Url::parse(answer->redirect);
      if (!next || redirects == most_redirects || !may_lead_to(url, *next)) {
        error_ =
            failed(ErrorCode::refused,
                   redirects == most_redirects
                       ? "it is redirected more than " + std::to_string(most_redirects) + " times"
                       : "it is redirected to \"" + http::without_secrets(answer->redirect) +
                             "\", which is not allowed");
        return answer;
      }
      url = *next;
    }
  }

  bool may_lead_to(http::Url const& from, http::Url const& to) const {
    if (!to.is_http() || (from.scheme() == "https" && to.scheme() != "https")) return false;
    auto const own = http::Url::parse(request_.url);
    return to.host() == own->host() || std::ranges::any_of(request_.hosts, [&to](auto const& host) {
             return host == any_host || host == to.host();
           });
  }

  Result<http::Response> ask(http::Url const& url) {
    takes_contents_ = false;
    bool const starts_over = request_.is_asked_only || request_.may_be_encoded;
    have_ = starts_over ? 0 : part_.size_of(request_.url);
    auto const take = [this](http::Response const& head, std::string_view bytes) {
      // The bodies of other responses are ignored.
      return !is_success(head) || this->take(head, bytes);
    };
    auto answer = client_.send(request_to(url), options(), take);
    bool const is_empty = answer && is_success(*answer) && !takes_contents_;
    if (is_empty && !request_.is_asked_only) take_first(*answer);
    return answer;
  }

  http::Request request_to(http::Url const& url) const {
    auto const* const method = request_.is_asked_only ? "HEAD" : "GET";
    return {method, url.without_fragment(), headers_to_send(), {}};
  }

  http::Options options() const {
    http::Options options;
    options.ca_file = request_.ca_file;
    options.limit = std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    options.least_speed = request_.least_speed;
    options.stall = request_.stall;
    options.decodes = request_.may_be_encoded;
    return options;
  }

  std::map<std::string, std::string> headers_to_send() const {
    if (have_ > 0)
      return {{"Range", "bytes=" + std::to_string(have_) + "-"},
              {"If-Range", part_.range_condition()}};
    std::map<std::string, std::string> headers;
    auto const& [etag, last_modified] = request_.known;
    if (!etag.empty()) headers["If-None-Match"] = etag;
    if (!last_modified.empty()) headers["If-Modified-Since"] = last_modified;
    return headers;
  }

  bool take(http::Response const& head, std::string_view bytes) {
    if (!takes_contents_ && !take_first(head)) return false;
    have_ += static_cast<std::int64_t>(bytes.size());
    if (have_ > request_.most_bytes) return too_large();
    part_.append(bytes);
    if (digest_) digest_->add(bytes);
    report_progress();
    return true;
  }

  /// Prepares for the body of a success, before its first bytes or when it is empty.
  bool take_first(http::Response const& head) {
    takes_contents_ = true;
    auto const start =
        head.status == 206 ? start_of(range_of(head)) : std::optional<std::int64_t>{0};
    if (!start || (*start != 0 && *start != have_)) {
      part_.discard();
      return false;
    }
    have_ = *start;
    if (have_ == 0) {
      resumed_from_ = 0;
      part_.begin(request_.url, validators_of(head));
    } else {
      part_.go_on();
    }
    begin_digest();
    auto const length = request_.may_be_encoded ? std::nullopt : length_of(head);
    expected_ = length ? std::optional{have_ + *length} : std::nullopt;
    return expected_.value_or(0) <= request_.most_bytes ? has_room() : too_large();
  }

  /// Starts the digest with the bytes that are stored already.
  void begin_digest() {
    digest_.emplace();
    std::ifstream stream{part_.path(), std::ios::binary};
    std::vector<char> buffer(1 << 20);
    for (auto left = have_; left > 0; left -= stream.gcount()) {
      stream.read(buffer.data(), std::min(left, static_cast<std::int64_t>(buffer.size())));
      if (stream.gcount() == 0) return;
      digest_->add({buffer.data(), static_cast<std::size_t>(stream.gcount())});
    }
  }

  bool too_large() {
    error_ = failed(ErrorCode::corrupt,
                    "it has more than " + std::to_string(request_.most_bytes) + " bytes");
    part_.discard();
    return false;
  }

  /// True when the disk has enough space for the rest. A disk that is full in the middle of a
  /// download would be noticed only hours later, and would disturb other programs.
  bool has_room() {
    std::error_code problem;
    auto const room = fs::space(folder_, problem);
    auto const missing = expected_.value_or(have_) - have_;
    if (problem || static_cast<std::uintmax_t>(missing) <= room.available) return true;
    error_ = failed(ErrorCode::unavailable,
                    "it needs " + std::to_string(missing) + " bytes, free in " + folder_.string() +
                        " are " + std::to_string(room.available));
    return false;
  }

  /// Returns the end of the download. Returns nothing for a retry, or after an error, which is then
  /// in `error_`.
  std::optional<Downloaded::End> end_of(Result<http::Response> const& answer) {
    using End = Downloaded::End;
    if (!answer) {
      bool const is_permanent = answer.error().code != ErrorCode::unavailable;
      if (is_permanent) error_ = failed(ErrorCode::unavailable, answer.error().message);
      return std::nullopt;
    }
    auto const& head = *answer;
    if (is_success(head)) return is_known_by(head) ? End::unchanged : End::whole;
    if (head.status == 304) return End::unchanged;
    if (head.status == 404 || head.status == 410) return End::absent;
    if (head.status == 416 && have_ > 0) {
      if (whole_of(range_of(head)) == have_) return end_of_whole_part();
      part_.discard();
      return std::nullopt;
    }
    if (!may_pass(head.status)) error_ = failed(ErrorCode::refused, trouble_with(answer));
    return std::nullopt;
  }

  /// True when the server has the known version but ignored the conditions of the request.
  bool is_known_by(http::Response const& head) const {
    return request_.is_asked_only && request_.known != Validators{} &&
           validators_of(head) == request_.known;
  }

  /// Ends a download whose bytes were complete when it was killed, before it got its name.
  Downloaded::End end_of_whole_part() {
    part_.go_on();
    begin_digest();
    return Downloaded::End::whole;
  }

  static std::string trouble_with(Result<http::Response> const& answer) {
    if (!answer) return answer.error().message;
    return "the server responded with " + std::to_string(answer->status);
  }

  Result<Downloaded> finish(Downloaded::End end, http::Response const& head) {
    Downloaded downloaded{end, validators_of(head), have_, resumed_from_};
    if (request_.is_asked_only) downloaded.bytes = length_of(head).value_or(0);
    if (end != Downloaded::End::whole || request_.is_asked_only) return downloaded;
    downloaded.validators = part_.validators();
    if (digest_) downloaded.sha256 = digest_->hex();
    if (!request_.sha256.empty() && downloaded.sha256 != request_.sha256) {
      part_.discard();
      return failed(ErrorCode::unavailable,
                    std::string{other_contents} + request_.sha256 + ", found " + downloaded.sha256);
    }
    part_.finish(request_.is_durable);
    return downloaded;
  }

  /// Waits before the next attempt. Returns false when the time limit comes first.
  bool rest(int failures, Result<http::Response> const& answer) {
    static thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_real_distribution<double> jitter{0.5, 1.5};
    std::chrono::duration<double, std::milli> pause = request_.pause;
    pause *= jitter(random) * static_cast<double>(1 << std::min(failures - 1, 10));
    if (answer && answer->retry_after) pause = *answer->retry_after;
    auto const until = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
    if (until >= deadline_) return false;
    std::this_thread::sleep_until(until);
    return true;
  }

  void report_progress() {
    constexpr std::chrono::milliseconds often{200};
    auto const now = Clock::now();
    if (!on_progress_ || now < reported_at_ + often) return;
    reported_at_ = now;
    on_progress_(have_, expected_);
  }

  DownloadRequest const& request_;
  DownloadProgress const& on_progress_;
  PartialFile part_;
  fs::path folder_;
  Clock::time_point deadline_;
  http::Client client_;
  bool takes_contents_ = false;
  std::int64_t have_ = 0;
  std::int64_t resumed_from_ = 0;
  std::optional<std::int64_t> expected_;
  std::optional<Sha256> digest_;
  std::optional<Error> error_;  ///< the permanent error that ends the download
  Clock::time_point reported_at_{};
};

}  // namespace

Result<Downloaded> download(DownloadRequest const& request,
                            fs::path const& file,
                            DownloadProgress const& on_progress) {
  auto const url = http::Url::parse(request.url);
  if (!url || !url->is_http())
    return Error{
        ErrorCode::invalid_argument,
        "download " + http::without_secrets(request.url) + ": it is not an http or https URL"};
  try {
    return Download{request, file, on_progress}.run(*url);
  } catch (std::exception const& problem) {
    return Error{ErrorCode::unavailable,
                 "download " + http::without_secrets(request.url) + ": " + problem.what()};
  }
}

}  // namespace torchwatch::fetch
