#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fetch/validators.h"
#include "storage/base/result.h"

namespace torchwatch::fetch {

/// The entry of DownloadRequest::hosts that allows redirects to any host.
inline constexpr auto any_host = "*";

/// A file to download, with the limits of the download.
struct DownloadRequest {
  std::string url;  ///< http or https
  /// Hosts that redirects may lead to, in addition to the URL's host; or any_host. Redirects from
  /// https to http are never followed.
  std::vector<std::string> hosts;
  /// PEM file of the trusted certificates; empty: those of the system.
  std::string ca_file;
  /// Validators of the known version, which is not downloaded again. Empty: none is known.
  Validators known;
  /// Sends only HEAD and downloads nothing. `whole` then means that the server has another version
  /// than the known one.
  bool is_asked_only = false;
  /// Allows the server to compress the file (Content-Encoding); it is stored decoded. An
  /// interrupted download then starts over. For pages only: the digest and length of other files
  /// refer to the bytes that are sent.
  bool may_be_encoded = false;
  /// 64 lower-case hexadecimal digits; empty if none was published.
  std::string sha256;
  std::int64_t most_bytes = 16LL << 30;
  /// Flushes the file to the disk before it gets its name. This takes half as long again, which is
  /// wasted on an archive that is unpacked immediately.
  bool is_durable = true;
  /// Time limit of all attempts together.
  std::chrono::seconds limit{4 * 3600};
  /// Bytes per second. An attempt ends when it is slower for the time `stall`. It counts as one
  /// without progress when it was slower on average.
  std::int64_t least_speed = std::int64_t{10} << 10;
  std::chrono::seconds stall{60};
  /// Number of consecutive attempts without progress before the download fails.
  int attempts = 5;
  /// Pause before the second attempt. It doubles before each further one, plus or minus a half,
  /// unless the server requests another (Retry-After).
  std::chrono::milliseconds pause{1000};
};

/// Part of the error message for contents that differ from the published ones.
inline constexpr std::string_view other_contents = "published with the SHA-256 ";

/// The result of a download.
struct Downloaded {
  enum class End {
    whole,      ///< the file was downloaded
    unchanged,  ///< the server has the known version (304)
    absent      ///< the server has no such file (404, 410)
  };

  End end{};
  Validators validators;
  std::int64_t bytes = 0;         ///< size of the file; after HEAD, 0 if the server sent no length
  std::int64_t resumed_from = 0;  ///< bytes received by an earlier, interrupted download
  std::string sha256{};           ///< hash of the file; empty unless it was downloaded
};

/// Called with the bytes received so far, and the total if the server sent it.
using DownloadProgress = std::function<void(std::int64_t, std::optional<std::int64_t>)>;

/// Downloads to `file`, which appears complete or not at all. FILE.part has the bytes received by
/// an interrupted call, also one that was killed. They are not downloaded again unless the server
/// has another version. Uses a proxy of the environment (https_proxy, no_proxy) and verifies
/// certificates. Retries temporary errors: no connection, a slow or incomplete response, 408, 429
/// and 5xx. Blocks; calls `on_progress` at most a few times a second.
///
/// Errors are one line that names the URL: invalid_argument for an invalid URL; refused when the
/// server rejects the request or redirects to a host that is not allowed; corrupt for a file that
/// is too large, which is removed; unavailable for all others, such as too little disk space.
/// A file without the digest `sha256` is removed and unavailable, because an index and the caches
/// in front of its files do not change at the same time.
Result<Downloaded> download(DownloadRequest const& request,
                            std::filesystem::path const& file,
                            DownloadProgress const& on_progress = {});

}  // namespace torchwatch::fetch
