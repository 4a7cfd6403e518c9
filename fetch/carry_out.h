#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>

#include "fetch/download.h"
#include "fetch/unpack.h"
#include "storage/base/result.h"

namespace torchwatch::fetch {

/// A file to download and, if it is an archive, to unpack.
struct FetchRequest {
  DownloadRequest download;
  /// Where it comes; it is gone when it was unpacked. One that is there already is taken for what
  /// an earlier, killed call has downloaded: files of other addresses and versions have other
  /// names.
  std::filesystem::path file;
  /// Where it is unpacked; may not be there. Empty: it is not unpacked.
  std::filesystem::path directory;
  /// Then it has to agree with its RECORD, unless `download.sha256` shows that it is whole.
  bool is_wheel = false;
  UnpackLimits limits;
};

struct Fetched {
  Downloaded download;
  Unpacked unpacked;
  std::string record_warning;  ///< as check_record's; empty where RECORD was not needed
};

/// How far it is.
struct FetchProgress {
  enum class Phase { downloading, unpacking };

  Phase phase{};
  std::int64_t bytes = 0;
  std::optional<std::int64_t> of;  ///< bytes at its end, where that is known
};

/// The file in each directory that carry_out makes which has its answer.
inline constexpr auto answer_file = ".torchwatch-fetched";

/// Stores in `directory` what carry_out answers about it. Throws std::system_error when the disk
/// fails.
void keep_answer(std::filesystem::path const& directory, Fetched const& fetched);

/// What carry_out answered when it made `directory`, for a caller that was killed before it stored
/// that. Errors as read_small_file's; corrupt when it is no answer.
Result<Fetched> kept_answer(std::filesystem::path const& directory);

using OnFetchProgress = std::function<void(FetchProgress const&)>;

/// Downloads, unpacks and checks. The directory appears whole, with its `answer_file`, or not at
/// all, whenever this is killed. An archive that is refused is gone: nobody can use it. Errors as
/// download's; corrupt when the archive breaks a rule of unpack or check_record, or is damaged and
/// yet has the digest that was published; unavailable when it is damaged and has no digest: a cache
/// may have cut it off, or sent a page in its place. invalid_argument when the directory is there.
/// Blocks.
Result<Fetched> carry_out(FetchRequest const& request, OnFetchProgress const& on_progress);

}  // namespace torchwatch::fetch
