#include "storage/base/date.h"

#include "storage/base/number.h"

namespace torchwatch {

std::optional<std::chrono::sys_days> day_of(std::string_view date) {
  constexpr std::size_t length = 10;
  if (date.size() != length || date[4] != '-' || date[7] != '-') return std::nullopt;
  auto const year = parse_number<unsigned>(date.substr(0, 4));
  auto const month = parse_number<unsigned>(date.substr(5, 2));
  auto const day = parse_number<unsigned>(date.substr(8, 2));
  if (!year || !month || !day) return std::nullopt;
  std::chrono::year_month_day const parsed{std::chrono::year{static_cast<int>(*year)},
                                           std::chrono::month{*month},
                                           std::chrono::day{*day}};
  if (!parsed.ok()) return std::nullopt;
  return std::chrono::sys_days{parsed};
}

}  // namespace torchwatch
