#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "fetch/index_page.h"
#include "fetch/package.h"

namespace torchwatch::fetch {

/// Which of a nightly's packages is wanted. Empty: any.
struct PackageFilter {
  PackageKind kind = PackageKind::wheel;
  std::string variant;  ///< "cpu", "cu130"
  std::string machine;  ///< of a wheel's platform, by its end: "x86_64", "aarch64"
  std::string python;   ///< of a wheel: "cp312"; any: the newest
  std::string abi;      ///< of a wheel: "cp313t"; any: the one that is named as its Python is
};

/// How much a package is preferred to others of its version: the larger, the more. One for an
/// ordinary interpreter (not free-threaded, not debug) is, and then one for a newer Python.
std::tuple<bool, int> worth_of(Package const& package);

/// A nightly that an index has, in one file.
struct Offer {
  Package package;
  std::string url;
  std::string sha256;  ///< empty: the index does not say
};

/// What an index has of what is wanted: one file a version and interpreter, by date and then by
/// version, oldest first. Two versions of one date are two nightlies: a release was branched off
/// that day. Of one version, those for ordinary interpreters (not free-threaded, not debug) come
/// last, and of these the one for the newest Python. What is yanked, or no nightly of torch, is
/// passed over.
std::vector<Offer> offers_in(std::vector<PageLink> const& links, PackageFilter const& filter);

/// Why none of an index's nightlies fits, for people: "channel is \"cu130\", found: cu126, cu128".
/// Names the part of the filter (channel, machine, python or abi) that the best of them miss. Empty
/// when there is no nightly of this kind, or one fits.
std::string why_none_fits(std::vector<PageLink> const& links, PackageFilter const& filter);

/// The Pythons of an index's newest nightly, "cp312, cp313", where those that fit are all older.
/// Empty when one of the newest fits, and when the filter names neither Python nor ABI.
std::string newer_for_other_pythons(std::vector<PageLink> const& links,
                                    PackageFilter const& filter);

}  // namespace torchwatch::fetch
