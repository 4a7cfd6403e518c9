#include "storage/domain/job.h"

namespace torchwatch {

std::string_view to_string(JobError error) {
  switch (error) {
    case JobError::failed:
      return "failed";
    case JobError::unsupported:
      return "unsupported";
    case JobError::crashed:
      return "crashed";
    case JobError::timeout:
      return "timeout";
    case JobError::memory:
      return "memory";
    case JobError::device:
      return "device";
    case JobError::device_memory:
      return "device_memory";
    case JobError::protocol:
      return "protocol";
    case JobError::launch:
      return "launch";
    case JobError::cache:
      return "cache";
    case JobError::lost:
      return "lost";
  }
  return "unknown";
}

std::optional<JobError> parse_job_error(std::string_view text) {
  using enum JobError;
  for (auto const error : {failed,
                           unsupported,
                           crashed,
                           timeout,
                           memory,
                           device,
                           device_memory,
                           protocol,
                           launch,
                           cache,
                           lost})
    if (text == to_string(error)) return error;
  return std::nullopt;
}

}  // namespace torchwatch
