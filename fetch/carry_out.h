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
  /// The downloaded file; removed after it was unpacked. An existing file is used as the download
  /// of an earlier, killed call, so files of other addresses or versions need other names.
  std::filesystem::path file;
  /// The directory to unpack into, which must not exist. Empty: the file is not unpacked.
  std::filesystem::path directory;
  /// True for a wheel: it must match its RECORD, unless `download.sha256` proves that it is whole.
  bool is_wheel = false;
  UnpackLimits limits;
};

struct Fetched {
  Downloaded download;
  Unpacked unpacked;
  std::string record_warning;  ///< warning of check_record(); empty if RECORD was not needed
};

/// The progress of a request.
struct FetchProgress {
  enum class Phase { downloading, unpacking };

  Phase phase{};
  std::int64_t bytes = 0;
  std::optional<std::int64_t> of;  ///< total bytes, if known
};

/// The file with the result of carry_out() in each directory that it makes.
inline constexpr auto answer_file = ".torchwatch-fetched";

/// Stores the result of carry_out() in `directory`. Throws std::system_error when the disk fails.
void keep_answer(std::filesystem::path const& directory, Fetched const& fetched);

/// Returns the result of the carry_out() that made `directory`, for a caller that was killed before
/// it stored the result. Errors are those of read_small_file(), and corrupt when the file has no
/// result.
Result<Fetched> kept_answer(std::filesystem::path const& directory);

using OnFetchProgress = std::function<void(FetchProgress const&)>;

/// Downloads, unpacks and checks a file. The directory appears complete, with its `answer_file`, or
/// not at all, also when the call is killed. A rejected archive is removed. Blocks.
///
/// Errors are those of download(). Also: corrupt when the archive breaks a rule of unpack() or
/// check_record(), or is damaged but has the published digest; unavailable when it is damaged and
/// no digest was published, because a cache may have truncated or replaced it; invalid_argument
/// when the directory exists.
Result<Fetched> carry_out(FetchRequest const& request, OnFetchProgress const& on_progress);

}  // namespace torchwatch::fetch
