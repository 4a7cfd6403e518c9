#pragma once

#include <string>

#include "tests/years/chance.h"

namespace torchwatch::years {

/// Texts that strangers write: subjects, authors, notes, reasons, rulings.
class Texts {
 public:
  explicit Texts(bool are_hostile) : are_hostile_{are_hostile} {}

  /// The text as it is, or, of a hostile history, sometimes with what tries to break out of a page.
  std::string of(std::string text, Chance& chance) const;

 private:
  bool are_hostile_;
};

}  // namespace torchwatch::years
