#pragma once

#include <string>

#include "tests/years/chance.h"

namespace torchwatch::years {

/// Texts from outside: subjects, authors, notes, failures, rulings.
class Texts {
 public:
  explicit Texts(bool are_hostile) : are_hostile_{are_hostile} {}

  /// Returns the text. In a hostile history, sometimes adds an attack on a page or replaces the
  /// text by one.
  std::string of(std::string text, Chance& chance) const;

 private:
  bool are_hostile_;
};

}  // namespace torchwatch::years
