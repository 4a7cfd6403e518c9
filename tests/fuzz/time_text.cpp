#include "daemon/api/time.h"
#include "storage/base/date.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {

/// A date or a time.
void time_text(std::string_view input) {
  constexpr std::size_t date_length = 10;
  if (auto const time = api::parse_time(input)) {
    auto const shown = api::iso8601(*time);
    std::string const midnight = input.size() == date_length ? "T00:00:00Z" : "";
    require(shown == std::string{input} + midnight, "a time is printed as it was given");
  }
  auto const day = day_of(input);
  if (day) require(api::parse_time(input) == Timestamp{*day}, "a day has one meaning");
}

}  // namespace torchwatch::fuzz
