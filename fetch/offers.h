#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "fetch/index_page.h"
#include "fetch/package.h"

namespace torchwatch::fetch {

/// The filter for packages of nightlies. An empty field matches any value.
struct PackageFilter {
  PackageKind kind = PackageKind::wheel;
  std::string variant;  ///< "cpu", "cu130"
  std::string machine;  ///< end of a wheel's platform tag: "x86_64", "aarch64"
  std::string python;   ///< a wheel's Python tag: "cp312"; empty: the newest is preferred
  std::string abi;      ///< a wheel's ABI tag: "cp313t"; empty: the one equal to its Python tag
};

/// Returns the rank of a package among those of its version; larger is better. Standard
/// interpreters (not free-threaded, not debug) come first, then newer Pythons.
std::tuple<bool, int> worth_of(Package const& package);

/// One file of a nightly in an index.
struct Offer {
  Package package;
  std::string url;
  std::string sha256;  ///< empty if the index has none
};

/// Returns the files that match the filter, one for each version and interpreter, ordered by date
/// and version, oldest first. Two versions of one date are two nightlies, because a release was
/// branched off that day. Within a version, standard interpreters (not free-threaded, not debug)
/// come last, the newest Python at the very end. Skips yanked files, and files that are not
/// nightlies of torch.
std::vector<Offer> offers_in(std::vector<PageLink> const& links, PackageFilter const& filter);

/// Returns why no nightly of an index matches, for people: "channel is \"cu130\", found: cu126,
/// cu128". Names the part of the filter (channel, machine, python or abi) that the best ones miss.
/// Empty when a nightly matches, or when there is no nightly of this kind.
std::string why_none_fits(std::vector<PageLink> const& links, PackageFilter const& filter);

/// Returns the Pythons of an index's newest nightly, "cp312, cp313", when all matching nightlies
/// are older. Empty when one of the newest matches, and when the filter has neither Python nor ABI.
std::string newer_for_other_pythons(std::vector<PageLink> const& links,
                                    PackageFilter const& filter);

}  // namespace torchwatch::fetch
