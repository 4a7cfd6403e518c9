#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace torchwatch {

/// The test of a benchmark: one word of [a-z0-9_] with at most 31 characters. The native suite has
/// `train` and `eval`. Other suites name their own. A value of 32 bytes, without allocation.
class Test {
 public:
  static Test const train;
  static Test const eval;

  constexpr Test() : Test{"train"} {}

  friend bool operator==(Test const&, Test const&) = default;

  /// `train`, `eval`, then the others by name.
  friend std::strong_ordering operator<=>(Test const& left, Test const& right) {
    if (left.rank() != right.rank()) return left.rank() <=> right.rank();
    return left.word_ <=> right.word_;
  }

 private:
  static constexpr std::size_t size = 32;

  friend std::string to_string(Test const& test);
  friend std::optional<Test> parse_test(std::string_view text);

  explicit constexpr Test(std::string_view word) {
    for (std::size_t i = 0; i < word.size(); ++i)
      word_[i] = word[i];
  }

  int rank() const;

  std::array<char, size> word_{};  // padded with zeros
};

inline constexpr Test Test::train{"train"};
inline constexpr Test Test::eval{"eval"};

inline int Test::rank() const {
  if (*this == train) return 0;
  return *this == eval ? 1 : 2;
}

std::string to_string(Test const& test);

/// The inverse of to_string(). Returns nothing when the text is not the word of a test.
std::optional<Test> parse_test(std::string_view text);

}  // namespace torchwatch
