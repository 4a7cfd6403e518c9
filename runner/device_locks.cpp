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

/// Of whoever was first, for all: a file of somebody else in a directory of everybody may be opened
/// only without O_CREAT (proc(5), fs.protected_regular). -1 when it cannot be had.
int open_for_all(std::string const& file) {
  constexpr mode_t everybody = 0666;
  int const there = ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (there >= 0 || errno != ENOENT) return there;
  int const made = ::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, everybody);
  if (made < 0 && errno == EEXIST) return ::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (made >= 0) ::fchmod(made, everybody);  // whatever the umask
  return made;
}

std::string file_name(std::string gpu) {
  std::ranges::replace_if(
      gpu, [](unsigned char byte) { return std::isalnum(byte) == 0; }, '-');
  return gpu;
}

/// The files of a directory.
struct Files {
  std::string path(std::string const& name) const {
    return directory + "/torchwatch-" + name + ".lock";
  }

  /// Whoever holds it is the only one who takes others.
  std::string gate() const { return path("next"); }

  /// Held by all who measure on a device of this kind.
  std::string kind(bool gpus) const { return path(gpus ? "gpus" : "cpus"); }

  std::string gpu(std::string const& name) const { return path("gpu-" + file_name(name)); }

  std::string const& directory;
};

Result<bool> nobody_holds(std::string const& file) {
  DeviceLocks::Held probe;
  return probe.add(file, LOCK_EX);
}

/// For whoever holds the gate.
Result<std::optional<DeviceLocks::Held>> take_behind_gate(Files const& files, Claim const& claim) {
  DeviceLocks::Held held;
  if (!claim.beside_others) {
    auto const mine = held.add(files.kind(claim.on_gpu), LOCK_SH);
    if (!mine) return mine.error();
    auto const is_free = nobody_holds(files.kind(!claim.on_gpu));
    if (!is_free) return is_free.error();
    if (!*mine || !*is_free) return std::optional<DeviceLocks::Held>{};
  }
  if (claim.on_gpu) {
    auto const mine = held.add(files.gpu(claim.gpu), LOCK_EX);
    if (!mine) return mine.error();
    if (!*mine) return std::optional<DeviceLocks::Held>{};
  }
  return std::optional{std::move(held)};
}

/// For locks that nobody announces.
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
