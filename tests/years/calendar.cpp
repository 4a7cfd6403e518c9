#include "tests/years/calendar.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "tests/years/chance.h"

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

/// Days before the newest of which everybody wants to see an example, however short the history.
constexpr std::array<std::size_t, 5> days_without{17, 50, 51, 52, 53};
constexpr std::array<std::size_t, 2> days_that_failed{24, 67};

/// So many newest days have nothing but that, so that the plan of incidents finds its nights.
constexpr std::size_t scripted_days = 100;

template <std::size_t size>
bool holds(std::array<std::size_t, size> const& days, std::size_t age) {
  return std::ranges::find(days, age) != days.end();
}

bool is_missing(std::size_t age, Chance& chance) {
  bool const is_by_chance = chance.happens(0.02);
  return holds(days_without, age) || (age > scripted_days && is_by_chance);
}

bool has_failed(std::size_t age, Chance& chance) {
  bool const is_by_chance = chance.happens(0.015);
  return holds(days_that_failed, age) || (age > scripted_days && is_by_chance);
}

std::string why_it_failed(Night const& night) {
  if (night.was_swept)
    return "none of 804 jobs gave a result; the first: crashed, worker ended by signal 11 "
           "(segmentation fault) while it loaded libtorch_cpu.so";
  return "/srv/pytorch-nightlies/" + night.date +
         "/build.json: line 1: the archive was cut off after 201326592 of 211812352 bytes";
}

}  // namespace

std::string date_of(std::chrono::sys_days day) {
  std::chrono::year_month_day const date{day};
  return fmt::format("{:04}-{:02}-{:02}",
                     static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::vector<Night> nights_of(Request const& request) {
  Chance chance{request.seed, "calendar"};
  std::vector<Night> nights;
  std::optional<std::size_t> judged;
  for (auto age = request.nights; age-- > 0;) {
    auto const day = request.last_night - std::chrono::days{age};
    bool const is_absent = is_missing(age, chance);
    bool const is_failed = has_failed(age, chance);
    auto const delay = std::chrono::seconds{chance.below(3 * 3600)};
    if (is_absent && age + 1 < request.nights) continue;
    Night night{date_of(day), day + 10h + delay, NightlyState::done, {}, {}, judged};
    if (is_failed && judged) {
      night.state = NightlyState::failed;
      night.was_swept = age % 2 == 0;
      night.failure = why_it_failed(night);
    }
    if (age == 0) night.state = NightlyState::prepared;
    if (night.state == NightlyState::done) judged = nights.size();
    nights.push_back(std::move(night));
  }
  return nights;
}

std::vector<bool> raw_nights_of(std::vector<Night> const& nights) {
  std::vector<bool> are_raw(nights.size());
  std::size_t judged = 0;
  for (auto at = nights.size(); at-- > 0;) {
    bool const is_closed =
        nights[at].state == NightlyState::done || nights[at].state == NightlyState::failed;
    are_raw[at] = judged < raw_nights || !is_closed;
    if (nights[at].state == NightlyState::done) ++judged;
  }
  return are_raw;
}

}  // namespace torchwatch::years
