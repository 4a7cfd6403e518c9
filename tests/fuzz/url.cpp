#include "github/url.h"

#include "daemon/api/target.h"
#include "daemon/net/host.h"
#include "fetch/url.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

void check_https(std::string const& text) {
  auto const url = github::parse_url(text);
  if (!url) return;
  require(!url->host.empty() && !url->port.empty() && url->target.starts_with('/'),
          "an address has host, port and target");
  require(is_one_line(url->host + url->target) && url->target.find(' ') == std::string::npos,
          "a target cannot break out of its request");
  auto const host = url->host.find(':') == std::string::npos ? url->host : "[" + url->host + "]";
  auto const again = github::parse_url("https://" + host + ":" + url->port + url->target);
  require(again && github::same_origin(*url, *again) && again->target == url->target,
          "an address is read as it was taken apart");
}

void check_any(std::string const& text) {
  auto const url = fetch::Url::parse(text);
  if (!url) return;
  auto const again = fetch::Url::parse(url->text());
  require(again && again->host() == url->host() && again->scheme() == url->scheme(),
          "an address stays the same");
  require(url->without_fragment().find('#') == std::string::npos, "a fragment can be left out");
  static_cast<void>(url->file_name());
  static auto const page = fetch::Url::parse("https://index.example/simple/").value();
  if (auto const led = page.resolve(text))
    require(fetch::Url::parse(led->text()).has_value(), "a link leads to an address");
}

}  // namespace

/// An address, a link or the target of a request.
void url(std::string_view input) {
  std::string const text{input};
  check_https(text);
  if (text.find('\0') == std::string::npos) check_any(text);
  static_cast<void>(net::is_host_ours(input, {"x"}));
  auto const target = api::parse_target("/" + github::percent_encode(input) +
                                        "?q=" + github::percent_encode(input));
  require(target.has_value(), "what was encoded can be read");
  require(target->path.size() == 1 && target->path.front() == input, "a path is decoded once");
  require(target->query.at("q") == input, "a query is decoded once");
  static_cast<void>(api::parse_target(input));
}

}  // namespace torchwatch::fuzz
