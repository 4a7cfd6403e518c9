#include "daemon/cli/progress.h"

#include <iostream>

#include <unistd.h>

namespace torchwatch::cli {

void print_progress(std::string const& text) {
  if (::isatty(STDERR_FILENO) == 1)
    std::cerr << "\r\033[K" << text << std::flush;
  else if (!text.empty())
    std::cerr << text << '\n';
}

void print_fleeting_progress(std::string const& text) {
  if (::isatty(STDERR_FILENO) == 1) print_progress(text);
}

}  // namespace torchwatch::cli
