#include "http/client.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/replace.hpp>
#include <boost/algorithm/string/trim.hpp>
#include <curl/curl.h>
#include <openssl/ssl.h>

#include "http/proxy.h"
#include "http/url.h"

namespace torchwatch::http {
namespace {

constexpr std::size_t most_header_bytes = std::size_t{64} << 10U;

struct FreeList {
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
};

struct FreeEasy {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
};

struct FreeMulti {
  void operator()(CURLM* handle) const { curl_multi_cleanup(handle); }
};

using HeaderList = std::unique_ptr<curl_slist, FreeList>;

HeaderList list_of(std::map<std::string, std::string> const& headers) {
  HeaderList list;
  for (auto const& [name, value] : headers) {
    auto* const longer = curl_slist_append(list.get(), (name + ": " + value).c_str());
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

CURLM* new_multi() {
  auto* const handle = curl_multi_init();
  if (handle == nullptr) throw std::bad_alloc{};
  return handle;
}

/// A response in transfer. libcurl is C, so its callbacks keep exceptions for later.
class Incoming {
 public:
  Incoming(CURL* curl, TakePiece const& take, std::size_t most_bytes)
      : curl_{curl},
        take_{take},
        most_bytes_{most_bytes} {
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &Incoming::on_header);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, this);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &Incoming::on_body);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, this);
  }

  Incoming(Incoming const&) = delete;
  Incoming& operator=(Incoming const&) = delete;
  ~Incoming() = default;

  /// Returns the response, or rethrows the exception of a callback.
  Response response() && {
    if (failure_) std::rethrow_exception(failure_);
    read_status();
    char* redirect = nullptr;
    curl_easy_getinfo(curl_, CURLINFO_REDIRECT_URL, &redirect);
    if (redirect != nullptr) response_.redirect = redirect;
    curl_off_t retry_after = 0;
    curl_easy_getinfo(curl_, CURLINFO_RETRY_AFTER, &retry_after);
    if (retry_after > 0) response_.retry_after = std::chrono::seconds{retry_after};
    return std::move(response_);
  }

  /// The reason why the client refused the rest of the response; empty if it did not.
  std::string const& refusal() const { return refusal_; }

 private:
  static std::size_t on_header(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Incoming*>(self)->guarded(size, [&](Incoming& incoming) {
      return incoming.take_header({data, size});
    });
  }

  static std::size_t on_body(char* data, std::size_t, std::size_t size, void* self) {
    return static_cast<Incoming*>(self)->guarded(size, [&](Incoming& incoming) {
      return incoming.take_body({data, size});
    });
  }

  /// Calls `taking`. Returns `size`, or 0 on failure, which ends the transfer.
  template <class Taking>
  std::size_t guarded(std::size_t size, Taking const& taking) {
    try {
      return taking(*this) ? size : 0;
    } catch (...) {
      failure_ = std::current_exception();
      return 0;
    }
  }

  bool take_header(std::string_view line) {
    header_bytes_ += line.size();
    if (header_bytes_ > most_header_bytes) return refuse("header", most_header_bytes);
    if (line.starts_with("HTTP/")) response_ = {};  // drops an interim response
    auto const colon = line.find(':');
    if (colon == std::string_view::npos) return true;
    auto& value = response_.headers[boost::to_lower_copy(std::string{line.substr(0, colon)})];
    if (!value.empty()) value += ", ";
    value += boost::trim_copy(std::string{line.substr(colon + 1)});
    return true;
  }

  bool take_body(std::string_view piece) {
    read_status();
    if (take_) return take_(response_, piece);
    if (piece.size() > most_bytes_ - response_.body.size()) return refuse("body", most_bytes_);
    response_.body += piece;
    return true;
  }

  bool refuse(std::string const& part, std::size_t most) {
    refusal_ = "response " + part + ": found more than " + std::to_string(most) +
               " bytes, allowed " + std::to_string(most);
    return false;
  }

  void read_status() {
    long status = 0;
    curl_easy_getinfo(curl_, CURLINFO_RESPONSE_CODE, &status);
    response_.status = static_cast<int>(status);
  }

  CURL* curl_;
  TakePiece const& take_;
  std::size_t most_bytes_;
  std::size_t header_bytes_ = 0;
  Response response_;
  std::string refusal_;
  std::exception_ptr failure_;
};

std::string variable(char const* name) {
  auto const* const value = std::getenv(name);  // never set while there are threads
  return value == nullptr ? "" : value;
}

/// Trusts the certificate itself, without a check of its issuer and end date.
CURLcode trust_certificate_itself(CURL*, void* context, void*) {
  X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(static_cast<SSL_CTX*>(context)),
                              X509_V_FLAG_PARTIAL_CHAIN | X509_V_FLAG_NO_CHECK_TIME);
  return CURLE_OK;
}

void set_trust(CURL* curl, Options const& options) {
  curl_easy_setopt(curl, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  auto const& own = options.certificate.empty() ? options.ca_file : options.certificate;
  auto const file = own.empty() ? variable("SSL_CERT_FILE") : own;
  auto const folder = own.empty() ? variable("SSL_CERT_DIR") : "";
  if (!file.empty()) curl_easy_setopt(curl, CURLOPT_CAINFO, file.c_str());
  if (!folder.empty()) curl_easy_setopt(curl, CURLOPT_CAPATH, folder.c_str());
  if (!own.empty()) curl_easy_setopt(curl, CURLOPT_CAPATH, nullptr);
  if (options.certificate.empty()) return;
  curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
  curl_easy_setopt(curl, CURLOPT_SSL_CTX_FUNCTION, &trust_certificate_itself);
}

void set_route(CURL* curl, Options const& options) {
  if (!options.unix_socket.empty())
    curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, options.unix_socket.c_str());
  if (!options.proxy) return;
  curl_easy_setopt(curl, CURLOPT_PROXY, options.proxy->c_str());
  curl_easy_setopt(curl, CURLOPT_NOPROXY, "");
}

void set_limits(CURL* curl, Options const& options) {
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 30L);
  curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, std::max<long>(options.limit.count(), 1));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, static_cast<long>(options.least_speed));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, static_cast<long>(options.stall.count()));
  // Do not wait for the thread of a lookup that hangs in the system's resolver.
  curl_easy_setopt(curl, CURLOPT_QUICK_EXIT, 1L);
}

void set_up(CURL* curl, Options const& options) {
  curl_easy_reset(curl);
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
  curl_easy_setopt(curl, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_IGNORED));
  curl_easy_setopt(curl, CURLOPT_USERAGENT, "torchwatch");
  curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, 256L * 1024);
  if (options.decodes) curl_easy_setopt(curl, CURLOPT_ACCEPT_ENCODING, "");
  set_trust(curl, options);
  set_route(curl, options);
  set_limits(curl, options);
}

/// `request` must outlive the transfer.
void set_request(CURL* curl, Request const& request) {
  if (request.method == "GET") return;
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    return;
  }
  curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.c_str());
  curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
  curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
}

ErrorCode code_of(CURLcode code) {
  switch (code) {
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_SSL_CACERT_BADFILE:
      return ErrorCode::invalid_argument;
    case CURLE_PEER_FAILED_VERIFICATION:
      return ErrorCode::refused;
    default:
      return ErrorCode::unavailable;
  }
}

bool has_reached(CURL* curl, CURLINFO step) {
  curl_off_t microseconds = 0;
  curl_easy_getinfo(curl, step, &microseconds);
  return microseconds > 0;
}

/// Returns the step at which a transfer failed, since libcurl's text for time limits lacks it.
/// "connect" includes the proxy's tunnel and the TLS handshake.
std::string step_of(CURL* curl) {
  if (has_reached(curl, CURLINFO_PRETRANSFER_TIME_T)) return "transfer: ";
  return has_reached(curl, CURLINFO_NAMELOOKUP_TIME_T) ? "connect: " : "look up: ";
}

/// Returns libcurl's text, with the system's if there is one. For a Unix socket, only the system's:
/// libcurl names the wrong address.
std::string reason_of(CURL* curl, CURLcode code, std::string text, Options const& options) {
  if (text.empty()) text = curl_easy_strerror(code);
  if (code != CURLE_COULDNT_CONNECT || !has_reached(curl, CURLINFO_NAMELOOKUP_TIME_T)) return text;
  long number = 0;
  curl_easy_getinfo(curl, CURLINFO_OS_ERRNO, &number);
  std::string const why = std::strerror(static_cast<int>(number));
  return options.unix_socket.empty() ? text + ": " + why : why;
}

/// Adds the proxy that is set. Removes its password, which libcurl shows when it cannot parse the
/// proxy.
std::string with_proxy(std::string text, std::string const& url, Options const& options) {
  auto const parsed = Url::parse(url);
  auto const variables = proxy_variables(parsed ? parsed->scheme() : "https");
  auto const proxy = options.proxy.value_or(variables.url);
  if (proxy.empty()) return text;
  auto const address = address_of_proxy(proxy);
  boost::replace_all(text, proxy, address);
  return text + "; a proxy is set: " + address;
}

}  // namespace

std::string header_of(Response const& response, std::string const& name) {
  auto const found = response.headers.find(name);
  return found == response.headers.end() ? "" : found->second;
}

struct Client::Curl {
  /// Runs one transfer. Fails with the refusal of `incoming` if that ended it.
  Result<> perform(std::string const& url, Options const& options, Incoming const& incoming) {
    std::array<char, CURL_ERROR_SIZE> text{};
    curl_easy_setopt(easy.get(), CURLOPT_URL, url.c_str());
    curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, text.data());
    auto const code = transfer();
    curl_easy_setopt(easy.get(), CURLOPT_ERRORBUFFER, nullptr);
    if (code == CURLE_OK) return {};
    if (is_stopped) return Error{ErrorCode::cancelled, "cancelled"};
    auto const& refusal = incoming.refusal();
    auto const reason =
        refusal.empty() ? reason_of(easy.get(), code, text.data(), options) : refusal;
    return Error{code_of(code), with_proxy(step_of(easy.get()) + reason, url, options)};
  }

  CURLcode transfer() const {
    constexpr int longest_wait = 1000;  // ms; stop() ends it
    if (curl_multi_add_handle(multi.get(), easy.get()) != CURLM_OK) return CURLE_FAILED_INIT;
    int running = 1;
    auto problem = CURLM_OK;
    while (running != 0 && problem == CURLM_OK && !is_stopped) {
      problem = curl_multi_perform(multi.get(), &running);
      if (running != 0 && problem == CURLM_OK)
        problem = curl_multi_poll(multi.get(), nullptr, 0, longest_wait, nullptr);
    }
    int left = 0;
    auto const* const ended = curl_multi_info_read(multi.get(), &left);
    auto const code = ended == nullptr ? CURLE_ABORTED_BY_CALLBACK : ended->data.result;
    curl_multi_remove_handle(multi.get(), easy.get());
    return code;
  }

  std::unique_ptr<CURL, FreeEasy> easy{new_handle()};
  std::unique_ptr<CURLM, FreeMulti> multi{new_multi()};
  std::atomic<bool> is_stopped{false};
};

Client::Client() : curl_{std::make_unique<Curl>()} {}

Client::~Client() = default;

Result<Response> Client::send(Request const& request,
                              Options const& options,
                              TakePiece const& take) {
  auto* const curl = curl_->easy.get();
  auto const headers = list_of(request.headers);
  set_up(curl, options);
  set_request(curl, request);
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
  Incoming incoming{curl, take, options.most_bytes};
  auto const performed = curl_->perform(request.url, options, incoming);
  auto response = std::move(incoming).response();
  if (!performed) return performed.error();
  return response;
}

Result<> Client::connect(std::string const& url, Options const& options) {
  auto* const curl = curl_->easy.get();
  set_up(curl, options);
  curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
  TakePiece const nothing;
  Incoming const incoming{curl, nothing, 0};
  return curl_->perform(url, options, incoming);
}

void Client::stop() {
  curl_->is_stopped = true;
  curl_multi_wakeup(curl_->multi.get());
}

}  // namespace torchwatch::http
