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

/// A trunk commit with its data in git.
struct Commit {
  CommitSha sha;
  std::string subject;
  std::string author;  ///< "Name <email>"
  Timestamp time{};    ///< committer time; not used to order commits, which ancestry does
  std::optional<int> pull_request;
  friend bool operator==(Commit const&, Commit const&) = default;
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
      launcher;  ///< command prefix that enters the build's own root file system, if it has one
};

/// One PyTorch binary in a directory.
struct Build {
  std::string prefix;  ///< absolute path
  BuildManifest manifest;
  /// Directory of its compile caches, which may not exist yet. Empty: none are kept.
  std::string caches{};
};

enum class RecipeKind {
  program,    ///< a program that this host runs; its tools are known
  artifacts,  ///< builds that another system makes and is responsible for
};

std::string_view to_string(RecipeKind kind);
std::optional<RecipeKind> parse_recipe_kind(std::string_view text);

/// The way commits become builds. Two recipes may make different builds of one commit.
struct Recipe {
  RecipeId id;
  RecipeKind kind = RecipeKind::program;
  /// The program and the tools that it lists, a line each; or the address of the artifacts.
  std::string contents;
};

/// The last completed step of a nightly. States are stored and only move forward. `failed` can
/// follow each of them.
///
///     announced -> prepared -> swept -> screened -> confirmed -> bisected -> done
enum class NightlyState { announced, prepared, swept, screened, confirmed, bisected, done, failed };

std::string_view to_string(NightlyState state);
std::optional<NightlyState> parse_nightly_state(std::string_view text);

/// The Python interpreter that a wheel requires.
struct Interpreter {
  std::string python;  ///< "cp313"; empty for an archive, which needs none
  std::string abi;     ///< "cp313", "cp313t"
  friend bool operator==(Interpreter const&, Interpreter const&) = default;
};

/// The published file of a nightly. A feed can publish another file under the name of an earlier
/// one.
struct PublishedFile {
  std::string url;     ///< current address; indexes move their links
  std::string sha256;  ///< hash of the contents; may be empty before the download
  /// Validators of the server for the downloaded contents (RFC 9110, 8.8). Empty before the
  /// download, and for servers that send none.
  std::string etag;
  std::string last_modified;
  std::int64_t bytes = 0;              ///< size of the contents; 0 before the download
  std::vector<std::string> aliases{};  ///< other ETags of servers for the same contents
  friend bool operator==(PublishedFile const&, PublishedFile const&) = default;
};

/// A build that a feed announced for a date.
struct Nightly {
  NightlyId id;
  std::string date;  ///< "YYYY-MM-DD"
  std::string version;
  /// The trunk commit, or the commit of the nightly branch when the trunk commit is unknown. Empty
  /// until a published file was read.
  CommitSha commit;
  CommitSha release_commit;  ///< the commit of the nightly branch, if the feed has one
  /// The date "YYYY-MM-DD" of `release_commit` on the nightly branch, for a published file. It
  /// differs from `date` when the publishing job started after midnight. Empty when unknown.
  std::string release_date;
  std::string prefix;                 ///< directory of the build; empty until built or fetched
  std::optional<PublishedFile> file;  ///< for a feed that is an index
  NightlyState state = NightlyState::announced;
  std::optional<NightlyId> baseline;  ///< the nightly that it was compared with
  std::string failure;                ///< why it failed
  Timestamp announced_at{};
};

/// A nightly and the baseline that it was measured side by side with.
struct ComparedNight {
  Nightly nightly;
  Nightly baseline;
};

}  // namespace torchwatch
