#include "runner/worker/preload.h"

#include <algorithm>
#include <sstream>

#include <dlfcn.h>

namespace torchwatch::worker {
namespace {

/// Whether it is loaded; loads nothing.
bool is_here(std::string const& library) {
  void* const handle = ::dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle != nullptr) ::dlclose(handle);
  return handle != nullptr;
}

}  // namespace

std::string why_not_preloaded(std::string names) {
  std::ranges::replace(names, ':', ' ');
  std::istringstream stream(names);
  for (std::string library; stream >> library;)
    if (!is_here(library))
      return library +
             " could not be preloaded: is it for this host, and in the build, in /usr or "
             "in what the fleet may read?";
  return "";
}

}  // namespace torchwatch::worker
