// Preloaded into the worker: a library that prints when it is loaded, buffered and not, and again
// when it goes.

#include <cstdio>

#include <unistd.h>

namespace {

[[gnu::constructor]] void print_when_loaded() {
  std::printf("chatty: loaded\n");
  std::fflush(stdout);
  std::printf("chatty: still in the buffer when main begins\n");
  constexpr char direct[] = "chatty: straight to descriptor 1\n";
  if (write(STDOUT_FILENO, direct, sizeof direct - 1) < 0) std::perror("chatty");
}

[[gnu::destructor]] void print_when_unloaded() {
  std::printf("chatty: bye\n");
}

}  // namespace
