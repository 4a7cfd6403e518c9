#include "fetch/http.h"

#include <algorithm>
#include <array>
#include <exception>
#include <new>
#include <stdexcept>
#include <tuple>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <curl/curl.h>

#include "fetch/number.h"

namespace torchwatch::fetch {
namespace {

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

using HeaderList = std::unique_ptr<curl_slist, FreeList>;

HeaderList list_of(std::vector<std::string> const& headers) {
  HeaderList list;
  for (auto const& header : headers) {
    auto* const longer = curl_slist_append(list.get(), header.c_str());
    if (longer == nullptr) throw std::bad_alloc{};
    std::ignore = list.release();
    list.reset(longer);
  }
  return list;
}

CURL* new_handle() {
  static CURLcode const started = curl_global_init(CURL_GLOBAL_DEFAULT);
  if (started != CURLE_OK) throw std::runtime_error{curl_easy_strerror(started)};
  auto* const handle = curl_easy_init();
  if (handle == nullptr) throw std::bad_alloc{};
  return handle;
}

bool is_hopeless(CURLcode code) {
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

/// An answer while it comes. libcurl is C: nothing is thrown through it.
class Incoming {
 public:
  Incoming(CURL* curl, TakeContents const& take) : curl_{curl}, take_{take} {
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Incoming::on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Incoming::on_contents);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  }

  Incoming(Incoming const&) = delete;
  Incoming& operator=(Incoming const&) = delete;
  ~Incoming() = default;

  /// Rethrows what was thrown meanwhile.
  HttpHead head() {
    if (failure_) std::rethrow_exception(failure_);
    return current_head();
  }

 private:
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Incoming*>(self)->guarded(size, [&](Incoming& incoming) {
      incoming.take_header({data, size});
      return true;
    });
  }

  static std::size_t on_contents(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Incoming*>(self)->guarded(size, [&](Incoming& incoming) {
      auto const& head = incoming.current_head();
      // Of an answer that is no success nobody wants the contents.
      return !head.is_success() || incoming.take_(head, {data, size});
    });
  }

  /// Fewer bytes taken than given end the transfer.
  template <class Taking>
  std::size_t guarded(std::size_t size, Taking const& taking) {
    try {
      return taking(*this) ? size : 0;
    } catch (...) {
      failure_ = std::current_exception();
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

  HttpHead const& current_head() {
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &head_.status);
    return head_;
  }

  CURL* curl_;
  TakeContents const& take_;
  HttpHead head_;
  std::exception_ptr failure_;
};

void set_up(CURL* curl, HttpRequest const& request) {
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_URL, request.url.without_fragment().c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_NOBODY, request.is_head ? 1L : 0L);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "torchwatch");
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(request.limit.count(), 1));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(request.least_speed));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(request.stall.count()));
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
  if (!request.ca_file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, request.ca_file.c_str());
}

void read_directions(CURL* curl, HttpAnswer& answer) {
  char* redirect = nullptr;
  curl_easy_getinfo(curl, CURLINFO_REDIRECT_URL, &redirect);
  if (redirect != nullptr) answer.redirect = redirect;
  curl_off_t retry_after = 0;
  curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &retry_after);
  if (retry_after > 0) answer.retry_after = std::chrono::seconds{retry_after};
}

}  // namespace

struct HttpClient::Curl {
  Curl() = default;
  Curl(Curl const&) = delete;
  Curl& operator=(Curl const&) = delete;

  ~Curl() { curl_easy_cleanup(handle); }

  CURL* handle = new_handle();
};

HttpClient::HttpClient() : curl_{std::make_unique<Curl>()} {}

HttpClient::~HttpClient() = default;

HttpAnswer HttpClient::ask(HttpRequest const& request, TakeContents const& take) {
  auto* const curl = curl_->handle;
  auto const headers = list_of(request.headers);
  std::array<char, CURL_ERROR_SIZE> text{};
  set_up(curl, request);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, text.data());
  Incoming incoming{curl, take};
  auto const code = curl_easy_perform(curl);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, nullptr);
  HttpAnswer answer;
  answer.head = incoming.head();
  read_directions(curl, answer);
  if (code == CURLE_OK) return answer;
  answer.trouble = text.front() != '\0' ? text.data() : curl_easy_strerror(code);
  answer.is_hopeless = is_hopeless(code);
  return answer;
}

}  // namespace torchwatch::fetch
