#include "storage/base/date.h"

#include <charconv>

namespace torchwatch {
namespace {

/// All of `digits`, which are nothing else.
std::optional<unsigned> number_of(std::string_view digits) {
  unsigned number = 0;
  auto const* const end = digits.data() + digits.size();
  auto const [stopped, problem] = std::from_chars(digits.data(), end, number);
  if (problem != std::errc{} || stopped != end) return std::nullopt;
  return number;
}

}  // namespace

std::optional<std::chrono::sys_days> day_of(std::string_view date) {
  constexpr std::size_t length = 10;
  if (date.size() != length || date[4] != '-' || date[7] != '-') return std::nullopt;
  auto const year = number_of(date.substr(0, 4));
  auto const month = number_of(date.substr(5, 2));
  auto const day = number_of(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  std::chrono::year_month_day const parsed{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{*month},
                                           std::chrono::day{*day}};
  if (!parsed.ok()) return std::nullopt;
  return std::chrono::sys_days{parsed};
}

}  // namespace torchwatch
