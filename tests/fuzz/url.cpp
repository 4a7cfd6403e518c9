#include "http/url.h"

#include "daemon/api/target.h"
#include "daemon/http/host.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

void check_url(std::string const& text) {
  auto const url = torchwatch::http::Url::parse(text);
  if (!url) return;
  require(is_one_line(url->origin() + url->target()) &&
              url->target().find(' ') == std::string::npos && url->target().starts_with('/'),
          "a target cannot break out of its request");
  auto const again = torchwatch::http::Url::parse(url->text());
  require(again && again->origin() == url->origin() && again->target() == url->target(),
          "an address stays the same");
  require(url->without_fragment().find('#') == std::string::npos, "a fragment can be left out");
  static_cast<void>(url->file_name());
  static auto const page = torchwatch::http::Url::parse("https://index.example/simple/").value();
  if (auto const led = page.resolve(text))
    require(torchwatch::http::Url::parse(led->text()).has_value(), "a link resolves to an address");
}

}  // namespace

/// An address, a link or the target of a request.
void url(std::string_view input) {
  std::string const text{input};
  check_url(text);
  static_cast<void>(http::is_host_ours(input, {"x"}));
  auto const target = api::parse_target("/" + torchwatch::http::percent_encode(input) +
                                        "?q=" + torchwatch::http::percent_encode(input));
  require(target.has_value(), "an encoded target can be read");
  require(target->path.size() == 1 && target->path.front() == input, "a path is decoded once");
  require(target->query.at("q") == input, "a query is decoded once");
  static_cast<void>(api::parse_target(input));
}

}  // namespace torchwatch::fuzz
