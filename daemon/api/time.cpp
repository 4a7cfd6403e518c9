#include "daemon/api/time.h"

#include <array>
#include <ctime>

#include <fmt/chrono.h>

#include "storage/base/number.h"

namespace torchwatch::api {

std::string iso8601(Timestamp time) {
  // A time point of system_clock would count nanoseconds, which overflow in 2262.
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}",
                     fmt::gmtime(std::time_t{time.time_since_epoch().count()}));
}

std::optional<Timestamp> parse_time(std::string_view text) {
  constexpr std::string_view form = "0000-00-00T00:00:00Z";
  constexpr std::size_t of_date = 10;
  if (text.size() != form.size() && text.size() != of_date) return std::nullopt;
  std::array<int, 6> parts{};  // year to second
  std::size_t part = 0;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && form[end] == '0')
      ++end;
    auto const value = parse_number<unsigned>(text.substr(begin, end - begin));
    if (!value) return std::nullopt;
    parts.at(part++) = static_cast<int>(*value);  // at most four digits
    if (end < text.size() && text[end] != form[end]) return std::nullopt;
    begin = end + 1;
  }
  auto const [year, month, day, hour, minute, second] = parts;
  std::chrono::year_month_day const date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!date.ok() || hour > 23 || minute > 59 || second > 59) return std::nullopt;
  return Timestamp{std::chrono::sys_days{date} + std::chrono::hours{hour} +
                   std::chrono::minutes{minute} + std::chrono::seconds{second}};
}

}  // namespace torchwatch::api
