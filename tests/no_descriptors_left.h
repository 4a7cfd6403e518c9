#pragma once

#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace torchwatch::tests {

/// Uses up the descriptors of this process while the object exists, but for two. So the process can
/// start no program, which takes more. Two stay free because UndefinedBehaviorSanitizer looks at
/// memory through a pipe, and calls what it cannot look at invalid.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    constexpr rlim_t few = 256;
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit limit = before_;
    limit.rlim_cur = few;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    for (int taken = open_one(); taken >= 0; taken = open_one())
      taken_.push_back(taken);
    for (int left = 0; left < 2 && !taken_.empty(); ++left) {
      ::close(taken_.back());
      taken_.pop_back();
    }
  }

  NoDescriptorsLeft(NoDescriptorsLeft const&) = delete;
  NoDescriptorsLeft& operator=(NoDescriptorsLeft const&) = delete;

  ~NoDescriptorsLeft() {
    for (int const taken : taken_)
      ::close(taken);
    ::setrlimit(RLIMIT_NOFILE, &before_);
  }

 private:
  static int open_one() { return ::open("/dev/null", O_RDONLY | O_CLOEXEC); }

  rlimit before_{};
  std::vector<int> taken_;
};

}  // namespace torchwatch::tests
