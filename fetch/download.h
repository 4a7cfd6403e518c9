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

/// In the place of a host's name: redirects may lead anywhere.
inline constexpr auto any_host = "*";

/// What is to be downloaded, and how far that may go.
struct DownloadRequest {
  std::string url;  ///< http or https
  /// Where redirects may lead besides the URL's own host, or any_host; never from https to http.
  std::vector<std::string> hosts;
  /// Certificates to trust instead of the system's, PEM.
  std::string ca_file;
  /// Of the version that is known already: it is not sent again. Empty: there is none.
  Validators known;
  /// Only asked for by its head: nothing is downloaded, and `whole` says that the server has
  /// another version than the known one.
  bool is_asked_only = false;
  /// The server may send it compressed (Content-Encoding), and it is stored decoded. What came
  /// before an interruption is then downloaded again. For pages: files have the digest and the
  /// length of what is sent.
  bool may_be_encoded = false;
  /// 64 lower-case hexadecimal digits; empty: nobody published any.
  std::string sha256;
  std::int64_t most_bytes = 16LL << 30;
  /// Flushed to the disk before it gets its name. That takes half as long again, for nothing where
  /// the file is an archive that is unpacked at once.
  bool is_durable = true;
  /// Together, with all that is tried again.
  std::chrono::seconds limit{4 * 3600};
  /// Bytes a second. An attempt ends when it is slower for as long as `stall`, and has brought
  /// nothing when it was slower on the whole.
  std::int64_t least_speed = std::int64_t{10} << 10;
  std::chrono::seconds stall{60};
  /// Attempts that bring nothing, one after the other, before it is given up.
  int attempts = 5;
  /// Before the second attempt; twice as long before each further one, give or take a half, or as
  /// the server wishes (Retry-After).
  std::chrono::milliseconds pause{1000};
};

/// In the message of the error that the server has other contents than were published.
inline constexpr std::string_view other_contents = "published with the SHA-256 ";

/// What came of it.
struct Downloaded {
  enum class End {
    whole,      ///< the file is there
    unchanged,  ///< the server has the known version (304)
    absent      ///< the server has no such file (404, 410)
  };

  End end{};
  Validators validators;
  std::int64_t bytes = 0;         ///< of the file; asked by its head, 0 where that has no length
  std::int64_t resumed_from = 0;  ///< bytes that an earlier, interrupted download had brought
  std::string sha256{};           ///< of the file; empty unless it came
};

/// Bytes that are there, and of how many, if the server says.
using DownloadProgress = std::function<void(std::int64_t, std::optional<std::int64_t>)>;

/// Downloads to `file`, which appears whole or not at all. What came before an interruption, of
/// this call or of an earlier one that was killed, lies in FILE.part and is not downloaded again,
/// unless the server has another version by then. A proxy of the environment is obeyed
/// (https_proxy, no_proxy), certificates are verified, and passing trouble is tried again: no
/// connection, a slow or a cut off answer, 408, 429 and 5xx.
///
/// Fails in one line that names the URL: invalid_argument, it is none; refused, the server or a
/// redirect to a host that is not allowed; corrupt, the file is too large, and is gone;
/// unavailable, anything else, also when the disk has too little room left. A file that is not what
/// `sha256` says is gone and unavailable: an index and the caches in front of its files change one
/// after the other.
/// Blocks; calls `on_progress` a few times a second at most.
Result<Downloaded> download(DownloadRequest const& request,
                            std::filesystem::path const& file,
                            DownloadProgress const& on_progress = {});

}  // namespace torchwatch::fetch
