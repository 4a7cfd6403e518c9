#include "tests/years/chance.h"

#include <cmath>

namespace torchwatch::years {
namespace {

/// Steele et al. 2014, Fast splittable pseudorandom number generators.
std::uint64_t splitmix(std::uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31U);
}

std::uint64_t seed_of(std::uint64_t seed, std::string_view purpose, std::uint64_t number) {
  auto bits = splitmix(seed);
  for (char const letter : purpose)
    bits = splitmix(bits ^ static_cast<unsigned char>(letter));
  return splitmix(bits ^ number);
}

}  // namespace

Chance::Chance(std::uint64_t seed, std::string_view purpose, std::uint64_t number)
    : dice_{seed_of(seed, purpose, number)} {}

double Chance::uniform() {
  constexpr std::size_t grains = std::size_t{1} << 53U;
  return static_cast<double>(dice_.below(grains)) / static_cast<double>(grains);
}

double Chance::log_between(double low, double high) {
  return std::exp(between(std::log(low), std::log(high)));
}

double Chance::normal() {
  // The sum of twelve has variance 1. No library function is used that rounds differently
  // elsewhere.
  constexpr int numbers = 12;
  double sum = -numbers / 2.0;
  for (int i = 0; i < numbers; ++i)
    sum += uniform();
  return sum;
}

}  // namespace torchwatch::years
