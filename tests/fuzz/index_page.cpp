#include "fetch/index_page.h"

#include "fetch/companions.h"
#include "fetch/offers.h"
#include "http/url.h"
#include "storage/base/date.h"
#include "storage/base/digest.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

void check_link(fetch::PageLink const& link) {
  auto const url = torchwatch::http::Url::parse(link.url);
  require(url && url->is_http(), "a link leads to a web server");
  require(link.url.find('#') == std::string::npos, "a link has no fragment");
  require(link.sha256.empty() || is_sha256(link.sha256), "a digest is valid");
}

/// Checks that a name is safe as a name of a file or directory.
void check_name(std::string const& name) {
  require(name.find('/') == std::string::npos && name != ".." && is_one_line(name),
          "an offer's name stays in its directory");
}

}  // namespace

/// A page of an index of packages.
void index_page(std::string_view input) {
  auto const links = fetch::links_of(input, "https://index.example/simple/torch/");
  if (!links) {
    require(links.error().code == ErrorCode::corrupt, "an unreadable page is corrupt");
    return;
  }
  for (auto const& link : *links)
    check_link(link);
  for (auto const kind : {fetch::PackageKind::wheel, fetch::PackageKind::libtorch})
    for (auto const& offer : fetch::offers_in(*links, {kind, "", "", "", ""})) {
      require(day_of(offer.package.date).has_value(), "an offer has a day");
      check_name(offer.package.version);
    }
  fetch::CompanionWish wish;
  wish.requirement = fetch::parse_requirement("nvidia-cublas>=12").value();
  for (auto const* const python : {"", "cp312"}) {
    wish.target = {python, python, "x86_64"};
    require(is_one_line(fetch::why_no_companion(*links, wish)), "a reason is one line");
    auto const file = fetch::companion_in(*links, wish);
    if (!file) require(is_one_line(file.error().message), "an error is one line");
    if (!file || !*file) continue;
    check_name((*file)->name);
    check_name((*file)->version);
    check_name((*file)->variant);
  }
}

}  // namespace torchwatch::fuzz
