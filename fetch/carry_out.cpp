#include "fetch/carry_out.h"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <system_error>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "fetch/wheel_record.h"
#include "fetch/wire.h"
#include "storage/base/digest.h"
#include "storage/base/small_file.h"

namespace torchwatch::fetch {
namespace {

namespace fs = std::filesystem;
using Phase = FetchProgress::Phase;

fs::path unfinished(fs::path directory) {
  return directory += ".part";
}

/// Flushes the files of a directory before it gets its name, so they survive a power failure.
void flush_disk_of(fs::path const& directory) {
  int const descriptor = ::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool const is_flushed = descriptor >= 0 && ::syncfs(descriptor) == 0;
  int const problem = errno;
  if (descriptor >= 0) ::close(descriptor);
  if (!is_flushed)
    throw std::system_error{problem, std::system_category(), "flush " + directory.string()};
}

std::string digest_of(fs::path const& file) {
  Sha256 digest;
  std::ifstream stream{file, std::ios::binary};
  std::vector<char> buffer(1 << 20);
  while (stream) {
    stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    digest.add({buffer.data(), static_cast<std::size_t>(stream.gcount())});
  }
  return digest.hex();
}

Result<Downloaded> download_once(FetchRequest const& request, OnFetchProgress const& on_progress) {
  if (fs::exists(request.file)) {
    auto const size = static_cast<std::int64_t>(fs::file_size(request.file));
    return Downloaded{Downloaded::End::whole, {}, size, size, digest_of(request.file)};
  }
  auto wanted = request.download;
  // After a power failure, an archive that cannot be unpacked is downloaded again.
  wanted.is_durable = wanted.is_durable && request.directory.empty();
  return download(wanted, request.file, [&](std::int64_t bytes, std::optional<std::int64_t> whole) {
    on_progress({Phase::downloading, bytes, whole});
  });
}

/// Unpacks the file and adds the result to `fetched`. `is_proven`: the file has the published
/// digest, so its RECORD is not needed.
Result<Fetched> unpack_and_check(FetchRequest const& request,
                                 Fetched fetched,
                                 bool is_proven,
                                 OnFetchProgress const& on_progress) {
  auto const work = unfinished(request.directory);
  auto const unpacked = unpack(request.file, work, request.limits, [&](std::int64_t bytes) {
    on_progress({Phase::unpacking, bytes, std::nullopt});
  });
  if (!unpacked) return unpacked.error();
  fetched.unpacked = *unpacked;
  if (!request.is_wheel || is_proven) return fetched;
  auto const checked = check_record(work);
  if (!checked) {
    fs::remove_all(work);
    return Error{ErrorCode::refused, checked.error().message};
  }
  fetched.record_warning = *checked;
  return fetched;
}

/// Returns the error for the caller. A rejected archive is a permanent error. A damaged one is
/// temporary unless it has the published digest.
Error error_of(Error error, bool is_proven) {
  if (error.code == ErrorCode::corrupt && !is_proven)
    error.code = ErrorCode::unavailable;
  else if (error.code == ErrorCode::refused)
    error.code = ErrorCode::corrupt;
  return error;
}

}  // namespace

void keep_answer(fs::path const& directory, Fetched const& fetched) {
  auto const file = directory / answer_file;
  fs::remove_all(file);  // the archive may have an entry with this name
  std::ofstream stream{file};
  stream << encode(Message{fetched});
  stream.close();
  if (!stream) throw std::system_error{EIO, std::generic_category(), "write " + file.string()};
}

Result<Fetched> kept_answer(fs::path const& directory) {
  auto const file = directory / answer_file;
  auto const line = read_small_file(file);
  if (!line) return line.error();
  auto const message = decode_message(*line);
  if (!message) return message.error();
  if (auto const* const fetched = std::get_if<Fetched>(&*message)) return *fetched;
  return Error{ErrorCode::corrupt,
               file.string() + ": it does not contain the result of a download"};
}

Result<Fetched> carry_out(FetchRequest const& request, OnFetchProgress const& on_progress) {
  try {
    if (!request.directory.empty() && fs::exists(request.directory)) {
      fs::remove(request.file);  // of a call that was killed before it removed the file
      return Error{ErrorCode::invalid_argument,
                   "make " + request.directory.string() + ": it exists already"};
    }
    bool const was_there = fs::exists(request.file);
    Fetched fetched;
    auto const downloaded = download_once(request, on_progress);
    if (!downloaded) return downloaded.error();
    fetched.download = *downloaded;
    if (downloaded->end != Downloaded::End::whole || request.directory.empty()) return fetched;
    fs::remove_all(unfinished(request.directory));  // of a call that was killed
    bool const is_proven = !was_there && !request.download.sha256.empty();
    auto unpacked = unpack_and_check(request, std::move(fetched), is_proven, on_progress);
    if (!unpacked) {
      bool const is_rejected = unpacked.error().code != ErrorCode::unavailable;
      if (is_rejected) fs::remove(request.file);
      // A power failure may have left an incomplete file under the final name.
      if (is_rejected && was_there) return carry_out(request, on_progress);
      return error_of(unpacked.error(), is_proven);
    }
    keep_answer(unfinished(request.directory), *unpacked);
    flush_disk_of(unfinished(request.directory));
    fs::rename(unfinished(request.directory), request.directory);
    fs::remove(request.file);
    return unpacked;
  } catch (std::system_error const& problem) {
    return Error{ErrorCode::unavailable, problem.what()};
  }
}

}  // namespace torchwatch::fetch
