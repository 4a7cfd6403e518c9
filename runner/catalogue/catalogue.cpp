#include "runner/catalogue/catalogue.h"

#include <algorithm>

namespace torchwatch::suite {

std::vector<Entry> const& catalogue() {
#define TORCHWATCH_ROW(name, domain, task, train, eval, smoke_train, smoke_eval, parameters) \
  Entry{#name, #domain, #task, {train, eval}, {smoke_train, smoke_eval}, parameters},
  static std::vector<Entry> const all{TORCHWATCH_MODELS(TORCHWATCH_ROW)};
#undef TORCHWATCH_ROW
  return all;
}

Entry const* find_entry(std::string_view name) {
  auto const found = std::find_if(catalogue().begin(),
                                  catalogue().end(),
                                  [name](Entry const& entry) { return entry.name == name; });
  return found == catalogue().end() ? nullptr : &*found;
}

}  // namespace torchwatch::suite
