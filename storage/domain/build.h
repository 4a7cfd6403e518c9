#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/clock.h"
#include "storage/base/ids.h"

namespace torchwatch {

/// 40 lower-case hexadecimal digits.
struct CommitSha {
  std::string hex;
  friend auto operator<=>(CommitSha const&, CommitSha const&) = default;
};

/// The first twelve digits, for people.
inline std::string short_of(CommitSha const& sha) {
  return sha.hex.substr(0, 12);
}

bool is_commit_sha(std::string_view text);

/// A trunk commit, as its own history tells it.
struct Commit {
  CommitSha sha;
  std::string subject;
  std::string author;  ///< "Name <email>"
  Timestamp time{};    ///< committer time; never used for order, which is ancestry
  std::optional<int> pull_request;
};

/// `build.json` in a prefix. Every field but `commit` has a default.
struct BuildManifest {
  CommitSha commit;
  std::string version;
  std::string date;     ///< "YYYY-MM-DD"
  std::string variant;  ///< "cpu", "cu126", ...
  std::string kind = "libtorch";
  std::map<std::string, std::string> env;
  std::vector<std::string> preload;  ///< shared libraries, absolute or relative to the prefix
  std::vector<std::string>
      launcher;  ///< command prefix that enters the build's root, if it has its own
};

/// One PyTorch binary in a directory.
struct Build {
  std::string prefix;  ///< absolute path
  BuildManifest manifest;
};

/// What a recipe is.
enum class RecipeKind {
  program,    ///< of ours: how it builds is known
  artifacts,  ///< somebody else's builds: whoever makes them answers for how
};

std::string_view to_string(RecipeKind kind);
std::optional<RecipeKind> parse_recipe_kind(std::string_view text);

/// How commits are built. Two builds of one commit by two recipes may differ.
struct Recipe {
  RecipeId id;
  RecipeKind kind = RecipeKind::program;
  /// The program, and what it says that it builds with, a line each; or where artifacts lie.
  std::string contents;
};

/// How far a nightly has come. States are durable and only move forward; `failed` can be reached
/// from each.
///
///     announced -> prepared -> swept -> screened -> confirmed -> bisected -> done
enum class NightlyState { announced, prepared, swept, screened, confirmed, bisected, done, failed };

std::string_view to_string(NightlyState state);
std::optional<NightlyState> parse_nightly_state(std::string_view text);

/// The Python that a wheel is for.
struct Interpreter {
  std::string python;  ///< "cp313"; empty: of an archive without one
  std::string abi;     ///< "cp313", "cp313t"
  friend bool operator==(Interpreter const&, Interpreter const&) = default;
};

/// The file that a nightly is published as. The same name may be published again with other
/// contents.
struct PublishedFile {
  std::string url;     ///< where it is now: indexes move their links
  std::string sha256;  ///< of the contents; empty: not downloaded yet, and the index does not say
  /// How the server calls the contents that were downloaded (RFC 9110, 8.8); empty until then, and
  /// where it does not.
  std::string etag;
  std::string last_modified;
  std::int64_t bytes = 0;              ///< of the contents; 0 until they were downloaded
  std::vector<std::string> aliases{};  ///< other ETags that servers have for the same contents
  friend bool operator==(PublishedFile const&, PublishedFile const&) = default;
};

/// A build that a feed announced for a date.
struct Nightly {
  NightlyId id;
  std::string date;  ///< "YYYY-MM-DD"
  std::string version;
  /// The trunk commit, or, where nobody knows that, the one of the nightly branch. Empty until a
  /// published file has told it.
  CommitSha commit;
  CommitSha release_commit;  ///< the commit of the nightly branch, where the feed has one
  /// "YYYY-MM-DD" that the nightly branch has for `release_commit` of a published file; another day
  /// than `date` where its job started after midnight. Empty where that is not known.
  std::string release_date;
  std::string prefix;                 ///< where the build lies; empty until it is built or fetched
  std::optional<PublishedFile> file;  ///< of an index
  NightlyState state = NightlyState::announced;
  std::optional<NightlyId> baseline;  ///< what it was compared with
  std::string failure;                ///< why it failed
  Timestamp announced_at{};
};

}  // namespace torchwatch
