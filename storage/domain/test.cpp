#include "storage/domain/test.h"

#include <algorithm>

namespace torchwatch {
namespace {

bool is_sign_of_test(char sign) {
  return (sign >= 'a' && sign <= 'z') || (sign >= '0' && sign <= '9') || sign == '_';
}

}  // namespace

std::string to_string(Test const& test) {
  return test.word_.data();  // the last character is always zero
}

std::optional<Test> parse_test(std::string_view text) {
  bool const has_size = !text.empty() && text.size() < Test::size;
  if (!has_size || !std::ranges::all_of(text, is_sign_of_test)) return std::nullopt;
  return Test{text};
}

}  // namespace torchwatch
