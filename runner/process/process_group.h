#pragma once

#include <cstdint>

#include <sys/types.h>

namespace torchwatch::process {

/// Bytes that the processes of group `group` hold in memory, as /proc tells: the sum of their
/// resident set sizes, so pages they share count once each. Cheap: tens of microseconds on a quiet
/// host. Zero for a group without processes.
std::int64_t resident_bytes(pid_t group);

}  // namespace torchwatch::process
