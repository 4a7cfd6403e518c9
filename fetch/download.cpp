#include "fetch/download.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <memory>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <curl/curl.h>

#include "fetch/number.h"
#include "fetch/partial_file.h"
#include "fetch/url.h"
#include "storage/domain/digest.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

struct FreeCurl {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }

  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

/// How one request ended.
struct Answer {
  CURLcode code = CURLE_OK;
  long status = 0;       ///< of HTTP; 0: there was none
  std::string trouble;   ///< in libcurl's words, when code says so
  std::string redirect;  ///< where to, absolute
  std::optional<std::chrono::seconds> retry_after;
};

/// What a server says of an answer before its contents.
struct Head {
  Validators validators;
  std::optional<std::int64_t> length;  ///< of what follows
  std::string range;                   ///< "bytes 5-9/10", "bytes */10"
};

/// 5 of "bytes 5-9/10".
std::optional<std::int64_t> start_of(std::string_view range) {
  constexpr std::string_view unit = "bytes ";
  if (!range.starts_with(unit)) return std::nullopt;
  range.remove_prefix(unit.size());
  return number_in<std::int64_t>(range.substr(0, range.find('-')));
}

/// 10 of "bytes 5-9/10".
std::optional<std::int64_t> whole_of(std::string_view range) {
  auto const slash = range.rfind('/');
  if (slash == std::string_view::npos) return std::nullopt;
  return number_in<std::int64_t>(range.substr(slash + 1));
}

bool is_success(long status) {
  return status == 200 || status == 206;
}

bool is_redirect(long status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool may_pass(long status) {
  return status == 408 || status == 429 || status >= 500;
}

/// One file on its way.
class Download {
 public:
  Download(DownloadOrder const& order, fs::path const& file, DownloadProgress const& on_progress)
      : order_{order},
        on_progress_{on_progress},
        part_{file},
        folder_{fs::absolute(file).parent_path()},
        deadline_{Clock::now() + order.limit},
        curl_{curl_easy_init()} {
    if (!curl_) throw std::bad_alloc{};
  }

  Result<Downloaded> run(Url const& url) {
    resumed_from_ = part_.size_of(order_.url);
    for (int failures = 0;;) {
      auto const before = have_;
      auto const answer = follow(url);
      if (error_) return *error_;
      if (auto const end = end_of(answer)) return finish(*end);
      if (error_) return *error_;
      failures = have_ > before ? 1 : failures + 1;
      if (failures >= order_.attempts) return failed(ErrorCode::unavailable, trouble_with(answer));
      if (!rest(failures, answer)) return failed(ErrorCode::unavailable, "it took too long");
    }
  }

 private:
  Error failed(ErrorCode code, std::string const& why) const {
    return {code, "download " + order_.url + ": " + why};
  }

  /// From redirect to redirect, as far as these may lead.
  Answer follow(Url url) {
    constexpr int most_redirects = 5;
    for (int redirects = 0;; ++redirects) {
      auto answer = ask(url);
      if (error_ || answer.code != CURLE_OK || !is_redirect(answer.status)) return answer;
      auto const next = Url::parse(answer.redirect);
      if (!next || redirects == most_redirects || !may_lead_to(url, *next)) {
        error_ = failed(
            ErrorCode::refused,
            redirects == most_redirects
                ? "it is redirected more than " + std::to_string(most_redirects) + " times"
                : "it is redirected to \"" + answer.redirect + "\", which no one has allowed");
        return answer;
      }
      url = *next;
    }
  }

  bool may_lead_to(Url const& from, Url const& to) const {
    if (!to.is_http() || (from.scheme() == "https" && to.scheme() != "https")) return false;
    auto const own = Url::parse(order_.url);
    return to.host() == own->host() || std::ranges::any_of(order_.hosts, [&to](auto const& host) {
             return host == any_host || host == to.host();
           });
  }

  Answer ask(Url const& url) {
    head_ = {};
    takes_body_ = false;
    have_ = order_.is_asked_only ? 0 : part_.size_of(order_.url);
    auto const headers = headers_to_send();
    std::array<char, CURL_ERROR_SIZE> text{};
    set_up(url, headers.get(), text.data());
    Answer answer;
    answer.code = curl_easy_perform(curl_.get());
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &answer.status);
    // An answer without contents.
    bool const is_empty = is_success(answer.status) && !takes_body_ && !order_.is_asked_only;
    if (answer.code == CURLE_OK && is_empty) take_body();
    char* redirect = nullptr;
    curl_easy_getinfo(curl_.get(), CURLINFO_REDIRECT_URL, &redirect);
    if (redirect != nullptr) answer.redirect = redirect;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RETRY_AFTER, &retry_after);
    if (retry_after > 0) answer.retry_after = std::chrono::seconds{retry_after};
    answer.trouble = text.front() != '\0' ? text.data() : curl_easy_strerror(answer.code);
    return answer;
  }

  std::unique_ptr<curl_slist, FreeCurl> headers_to_send() const {
    std::unique_ptr<curl_slist, FreeCurl> headers;
    auto const add = [&headers](std::string const& header) {
      auto* const longer = curl_slist_append(headers.get(), header.c_str());
      if (longer == nullptr) throw std::bad_alloc{};
      std::ignore = headers.release();
      headers.reset(longer);
    };
    if (have_ > 0) {
      add("Range: bytes=" + std::to_string(have_) + "-");
      add("If-Range: " + part_.range_condition());
    } else {
      if (!order_.known.etag.empty()) add("If-None-Match: " + order_.known.etag);
      if (!order_.known.last_modified.empty())
        add("If-Modified-Since: " + order_.known.last_modified);
    }
    return headers;
  }

  void set_up(Url const& url, curl_slist* headers, char* error_text) {
    auto* const curl = curl_.get();
    curl_easy_reset(curl);
    auto const left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    curl_easy_setopt(curl, CURLOPT_URL, url.without_fragment().c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOBODY, order_.is_asked_only ? 1L : 0L);
    curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "torchwatch");
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error_text);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(left.count(), 1));
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(order_.stall.count()));
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
    if (!order_.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, order_.ca_file.c_str());
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Download::on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Download::on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  }

  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    static_cast<Download*>(self)->take_header({data, size});
    return size;
  }

  /// Fewer bytes taken than given end the transfer. libcurl is C: nothing is thrown through it.
  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    auto* const download = static_cast<Download*>(self);
    try {
      return download->take({data, size}) ? size : 0;
    } catch (std::exception const& problem) {
      download->error_ = download->failed(ErrorCode::unavailable, problem.what());
      return 0;
    }
  }

  void take_header(std::string_view line) {
    if (line.starts_with("HTTP/")) head_ = {};  // of a proxy's answer, or an interim one
    auto const colon = line.find(':');
    if (colon == std::string_view::npos) return;
    auto const name = boost::to_lower_copy(std::string{line.substr(0, colon)});
    auto const value = boost::trim_copy(std::string{line.substr(colon + 1)});
    if (name == "etag") head_.validators.etag = value;
    if (name == "last-modified") head_.validators.last_modified = value;
    if (name == "content-length") head_.length = number_in<std::int64_t>(value);
    if (name == "content-range") head_.range = value;
  }

  /// Of an answer that is no success nobody wants the contents.
  bool take(std::string_view bytes) {
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    if (!is_success(status)) return true;
    if (!takes_body_ && !take_body()) return false;
    have_ += static_cast<std::int64_t>(bytes.size());
    if (have_ > order_.most_bytes) return too_large();
    part_.append(bytes);
    if (digest_) digest_->add(bytes);
    tell();
    return true;
  }

  /// The first bytes of a success have come, or it has none.
  bool take_body() {
    takes_body_ = true;
    long status = 0;
    curl_easy_getinfo(curl_.get(), CURLINFO_RESPONSE_CODE, &status);
    auto const start = status == 206 ? start_of(head_.range) : std::optional<std::int64_t>{0};
    if (!start || (*start != 0 && *start != have_)) {
      part_.discard();
      return false;
    }
    have_ = *start;
    if (have_ == 0) {
      resumed_from_ = 0;
      part_.begin(order_.url, head_.validators);
    } else {
      part_.go_on();
    }
    if (!order_.sha256.empty()) begin_digest();
    expected_ = head_.length ? std::optional{have_ + *head_.length} : std::nullopt;
    return expected_.value_or(0) <= order_.most_bytes ? has_room() : too_large();
  }

  /// Of what was there already.
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
                    "it has more than " + std::to_string(order_.most_bytes) + " bytes");
    part_.discard();
    return false;
  }

  /// A full disk in the middle of a download would be found out hours later, by others too.
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

  /// Nothing when it has to be tried again, or went wrong for good.
  std::optional<Downloaded::End> end_of(Answer const& answer) {
    using End = Downloaded::End;
    if (answer.code != CURLE_OK) {
      if (is_for_good(answer.code)) error_ = failed(ErrorCode::unavailable, answer.trouble);
      return std::nullopt;
    }
    if (is_success(answer.status)) return is_known_by_its_head() ? End::unchanged : End::whole;
    if (answer.status == 304) return End::unchanged;
    if (answer.status == 404 || answer.status == 410) return End::absent;
    if (answer.status == 416 && have_ > 0) {
      if (whole_of(head_.range) == have_) return end_of_whole_part();
      part_.discard();
      return std::nullopt;
    }
    if (!may_pass(answer.status)) error_ = failed(ErrorCode::refused, trouble_with(answer));
    return std::nullopt;
  }

  /// Of a server that does not look at conditions.
  bool is_known_by_its_head() const {
    return order_.is_asked_only && head_.validators == order_.known;
  }

  /// It was all there, and a kill came before its name did.
  Downloaded::End end_of_whole_part() {
    part_.go_on();
    if (!order_.sha256.empty()) begin_digest();
    return Downloaded::End::whole;
  }

  static bool is_for_good(CURLcode code) {
    switch (code) {
      case CURLE_UNSUPPORTED_PROTOCOL:
      case CURLE_URL_MALFORMAT:
      case CURLE_PEER_FAILED_VERIFICATION:
      case CURLE_SSL_CACERT_BADFILE:
        return true;
      default:
        return false;
    }
  }

  static std::string trouble_with(Answer const& answer) {
    if (answer.code != CURLE_OK) return answer.trouble;
    return "the server answers " + std::to_string(answer.status);
  }

  Result<Downloaded> finish(Downloaded::End end) {
    Downloaded downloaded{end, head_.validators, have_, resumed_from_};
    if (end != Downloaded::End::whole || order_.is_asked_only) return downloaded;
    downloaded.validators = part_.validators();
    auto const found = digest_ ? digest_->hex() : order_.sha256;
    if (found != order_.sha256) {
      part_.discard();
      return failed(ErrorCode::corrupt,
                    "published with the SHA-256 " + order_.sha256 + ", found " + found);
    }
    part_.finish(order_.is_durable);
    return downloaded;
  }

  /// False when there is no time left.
  bool rest(int failures, Answer const& answer) {
    static thread_local std::minstd_rand random{std::random_device{}()};
    std::uniform_real_distribution<double> jitter{0.5, 1.5};
    std::chrono::duration<double, std::milli> pause = order_.pause;
    pause *= jitter(random) * static_cast<double>(1 << std::min(failures - 1, 10));
    if (answer.retry_after) pause = *answer.retry_after;
    auto const until = Clock::now() + std::chrono::duration_cast<Clock::duration>(pause);
    if (until >= deadline_) return false;
    std::this_thread::sleep_until(until);
    return true;
  }

  void tell() {
    constexpr std::chrono::milliseconds often{200};
    auto const now = Clock::now();
    if (!on_progress_ || now < told_ + often) return;
    told_ = now;
    on_progress_(have_, expected_);
  }

  DownloadOrder const& order_;
  DownloadProgress const& on_progress_;
  PartialFile part_;
  fs::path folder_;
  Clock::time_point deadline_;
  std::unique_ptr<CURL, FreeCurl> curl_;
  Head head_;
  bool takes_body_ = false;
  std::int64_t have_ = 0;
  std::int64_t resumed_from_ = 0;
  std::optional<std::int64_t> expected_;
  std::optional<Sha256> digest_;
  std::optional<Error> error_;  ///< why it is over
  Clock::time_point told_{};
};

}  // namespace

Result<Downloaded> download(DownloadOrder const& order,
                            fs::path const& file,
                            DownloadProgress const& on_progress) {
  static CURLcode const started = curl_global_init(CURL_GLOBAL_DEFAULT);
  auto const url = Url::parse(order.url);
  if (started != CURLE_OK || !url || !url->is_http())
    return Error{ErrorCode::invalid_argument,
                 "download " + order.url + ": it is no address of http or https"};
  try {
    return Download{order, file, on_progress}.run(*url);
  } catch (std::system_error const& problem) {
    return Error{ErrorCode::unavailable, "download " + order.url + ": " + problem.what()};
  }
}

}  // namespace torchwatch::fetch
