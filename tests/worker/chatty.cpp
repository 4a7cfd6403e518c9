// A library, preloaded into the worker, that prints when it is loaded, with and without buffer, and
// when it is unloaded.

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
