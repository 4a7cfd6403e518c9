#include "runner/worker/wire.h"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace torchwatch::worker {
namespace {

// `wire` is set before threads exist. `claim` is a section entry, which cannot be const.
// NOLINTBEGIN(cppcoreguidelines-avoid-non-const-global-variables)
int wire = -1;

void claim_standard_output(int, char**, char**) {
  wire = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  dup2(STDERR_FILENO, STDOUT_FILENO);
}

// The loader runs this section of the executable before the constructors of all shared libraries,
// including preloaded ones.
[[gnu::section(".preinit_array"),
  gnu::used]] void (*claim)(int, char**, char**) = &claim_standard_output;
// NOLINTEND(cppcoreguidelines-avoid-non-const-global-variables)

}  // namespace

void send_line(std::string line) {
  line += '\n';
  std::size_t sent = 0;
  while (sent < line.size()) {
    auto const written = write(wire, line.data() + sent, line.size() - sent);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw std::system_error(errno, std::generic_category(), "write to the runner");
    sent += static_cast<std::size_t>(written);
  }
}

}  // namespace torchwatch::worker
