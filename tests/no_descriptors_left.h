#pragma once

#include <sys/resource.h>

namespace torchwatch::tests {

/// A limit of 0 descriptors for this process while the object exists. So the process can open no
/// file and start no program.
class NoDescriptorsLeft {
 public:
  NoDescriptorsLeft() {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit none = before_;
    none.rlim_cur = 0;
    ::setrlimit(RLIMIT_NOFILE, &none);
  }

  NoDescriptorsLeft(NoDescriptorsLeft const&) = delete;
  NoDescriptorsLeft& operator=(NoDescriptorsLeft const&) = delete;

  ~NoDescriptorsLeft() { ::setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

}  // namespace torchwatch::tests
