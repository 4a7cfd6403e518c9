#include "runner/device_locks.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace torchwatch::runner {
namespace asio = boost::asio;

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds between_tries{20};
constexpr std::chrono::seconds between_signs{10};

Error failure(std::string const& file) {
  auto const why = std::error_code{errno, std::generic_category()}.message();
  return {ErrorCode::unavailable, "lock " + file + ": " + why};
}

/// Opens a lock file, or creates it for all users. Returns -1 on failure. Another user's file in a
/// directory that all users can write to may be opened only without O_CREAT (proc(5),
/// fs.protected_regular).
int open_for_all(std::string const& file) {
  constexpr mode_t all_users = 0666;
  int const there = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (there >= 0 || errno != ENOENT) return there;
  int const made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, all_users);
  if (made < 0 && errno == EEXIST) return ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (made >= 0) ::fchmod(made, all_users);  // despite the umask
  return made;
}

std::string file_name(std::string gpu) {
  std::ranges::replace_if(
      gpu, [](unsigned char byte) { return std::isalnum(byte) == 0; }, '-');
  return gpu;
}

/// The paths of the lock files in a directory.
struct Files {
  std::string path(std::string const& name) const {
    return directory + "/torchwatch-" + name + ".lock";
  }

  /// A runner must hold this lock while it takes others.
  std::string gate() const { return path("next"); }

  /// Held, shared, by all rounds on a device of this kind.
  std::string kind(bool gpus) const { return path(gpus ? "gpus" : "cpus"); }

  std::string gpu(std::string const& name) const { return path("gpu-" + file_name(name)); }

  std::string const& directory;
};

/// True when no process holds the lock of `file`.
Result<bool> is_free(std::string const& file) {
  DeviceLocks::Held trial;
  return trial.add(file, LOCK_EX);
}

/// Takes the locks of `claim`. The caller must hold the gate.
Result<std::optional<DeviceLocks::Held>> take_behind_gate(Files const& files, Claim const& claim) {
  DeviceLocks::Held held;
  if (!claim.beside_others) {
    auto const mine = held.add(files.kind(claim.on_gpu), LOCK_SH);
    if (!mine) return mine.error();
    auto const other_is_free = is_free(files.kind(!claim.on_gpu));
    if (!other_is_free) return other_is_free.error();
    if (!*mine || !*other_is_free) return std::optional<DeviceLocks::Held>{};
  }
  if (claim.on_gpu) {
    auto const mine = held.add(files.gpu(claim.gpu), LOCK_EX);
    if (!mine) return mine.error();
    if (!*mine) return std::optional<DeviceLocks::Held>{};
  }
  return std::optional{std::move(held)};
}

/// Waits by polling, since flock sends no notification when a lock is released.
class Wait {
 public:
  Wait(asio::any_io_executor const& executor, DeviceLocks::OnWait on_wait)
      : timer_{executor},
        on_wait_{std::move(on_wait)} {}

  Clock::duration lasted() const { return Clock::now() - begun_; }

  asio::awaitable<void> a_little() {
    timer_.expires_after(between_tries);
    co_await timer_.async_wait(asio::use_awaitable);
    if (Clock::now() < next_sign_) co_return;
    next_sign_ = Clock::now() + between_signs;
    on_wait_();
  }

 private:
  asio::steady_timer timer_;
  DeviceLocks::OnWait on_wait_;
  Clock::time_point begun_ = Clock::now();
  Clock::time_point next_sign_ = begun_;
};

}  // namespace

DeviceLocks::Held::Held(Held&& other) noexcept
    : descriptors_{std::exchange(other.descriptors_, {})} {}

DeviceLocks::Held& DeviceLocks::Held::operator=(Held&& other) noexcept {
  std::swap(descriptors_, other.descriptors_);
  return *this;
}

DeviceLocks::Held::~Held() {
  for (int const descriptor : descriptors_)
    ::close(descriptor);
}

Result<bool> DeviceLocks::Held::add(std::string const& file, int how) {
  int const descriptor = open_for_all(file);
  if (descriptor < 0) return failure(file);
  if (::flock(descriptor, how | LOCK_NB) == 0) {
    descriptors_.push_back(descriptor);
    return true;
  }
  bool const is_taken = errno == EWOULDBLOCK;
  auto const error = failure(file);
  ::close(descriptor);
  return is_taken ? Result<bool>{false} : error;
}

DeviceLocks::DeviceLocks(std::string directory) : directory_{std::move(directory)} {}

std::string DeviceLocks::default_directory() {
  std::string const usual = "/run/lock";
  return ::access(usual.c_str(), W_OK | X_OK) == 0 ? usual : "/tmp";
}

Result<std::optional<DeviceLocks::Held>> DeviceLocks::try_take(Claim const& claim) const {
  Files const files{directory_};
  Held gate;
  auto const is_mine = gate.add(files.gate(), LOCK_EX);
  if (!is_mine) return is_mine.error();
  if (!*is_mine) return std::optional<Held>{};
  return take_behind_gate(files, claim);
}

asio::awaitable<Result<DeviceLocks::Held>> DeviceLocks::take(
    Claim claim, OnWait on_wait, std::chrono::milliseconds patience) const {
  Files const files{directory_};
  Wait wait{co_await asio::this_coro::executor, std::move(on_wait)};
  while (wait.lasted() < patience) {
    auto held = try_take(claim);
    if (!held) co_return held.error();
    if (*held) co_return std::move(**held);
    co_await wait.a_little();
  }
  Held gate;
  for (;;) {
    auto const is_next = gate.add(files.gate(), LOCK_EX);
    if (!is_next) co_return is_next.error();
    if (*is_next) break;
    co_await wait.a_little();
  }
  for (;;) {
    auto held = take_behind_gate(files, claim);
    if (!held) co_return held.error();
    if (*held) co_return std::move(**held);
    co_await wait.a_little();
  }
}

}  // namespace torchwatch::runner
