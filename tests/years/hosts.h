#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace torchwatch::years {

/// The machine of a fleet: it gets another kernel or driver now and then, which changes its pace.
class Hosts {
 public:
  Hosts(std::uint64_t seed, std::size_t nights) : seed_{seed}, nights_{nights} {}

  /// What a worker reports of it, a JSON object.
  std::string fingerprint(std::string const& fleet, std::size_t night) const;

  /// Whether it is not what it was the night before.
  bool is_changed(std::string const& fleet, std::size_t night) const;

  /// By what times on that night differ from those on another one: its pace, and the weather.
  double pace(std::string const& fleet, std::size_t night) const;

 private:
  std::size_t changes(std::string const& fleet, std::size_t night) const;

  std::uint64_t seed_;
  std::size_t nights_;
};

}  // namespace torchwatch::years
