#include "tests/soak/score.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace torchwatch::soak {
namespace {

/// Nightlies that may show a change before it must be noticed. On an unlucky night, a comparison of
/// a change near the threshold ends undecided.
constexpr std::size_t unlucky_nights = 2;
/// Days after the end of a change in which an incident may still be about it.
constexpr std::size_t days_after_end = 4;
/// The least share of incidents whose culprit must be right: the confidence of a bisection, less
/// what chance may take in a year.
constexpr double least_explained = 0.95;
/// Growth of the memory that is not a leak: caches and fragments.
constexpr std::int64_t memory_slack = 16L << 20;
constexpr std::int64_t memory_of_a_day = 32L << 10;
/// Differences of a database's growth a day between two halves, and of open files.
constexpr double more_growth = 1.5;
constexpr double growth_slack = 16 << 10;
constexpr std::size_t descriptor_slack = 4;

/// Memory that was freed stays in the quarantine of the sanitizer.
#ifdef __SANITIZE_ADDRESS__
constexpr bool is_memory_measurable = false;
#else
constexpr bool is_memory_measurable = true;
#endif

std::string text_of(Planted const& planted) {
  return fmt::format("{} of {} by {:+.0f}% on day {}",
                     planted.metric.name(),
                     planted.model,
                     100 * (planted.ratio - 1),
                     planted.begins);
}

std::string text_of(FoundIncident const& incident) {
  std::string metrics;
  for (auto const metric : incident.metrics)
    metrics += (metrics.empty() ? "" : ", ") + metric.name();
  return fmt::format("the incident of day {} ({} of {})", incident.opened, metrics, incident.model);
}

bool is_about(FoundIncident const& incident, Planted const& planted) {
  bool const is_in_time =
      incident.opened >= planted.begins && incident.opened < planted.ends + days_after_end;
  return is_in_time && is_to_be_filed(planted) && incident.model == planted.model &&
         incident.metrics == std::vector{planted.metric};
}

double share(std::size_t part, std::size_t all) {
  return all == 0 ? 1 : static_cast<double>(part) / static_cast<double>(all);
}

/// Compares an outcome with its plan, promise by promise.
class Scorer {
 public:
  Scorer(Plan const& plan, Outcome const& outcome) : plan_{plan}, outcome_{outcome} {}

  Score take() {
    score_.reports = outcome_.incidents.size();
    for (std::size_t i = 0; i < plan_.planted.size(); ++i)
      if (is_to_be_filed(plan_.planted[i])) check_change(plan_.planted[i], outcome_.culprits.at(i));
    check_false_reports();
    check_explanations();
    check_drift();
    check_messages();
    check_resources();
    return std::move(score_);
  }

 private:
  void note(std::string problem) { score_.problems.push_back(std::move(problem)); }

  void check_change(Planted const& planted, CommitSha const& culprit) {
    ++score_.to_be_filed;
    std::vector<FoundIncident const*> own;
    for (auto const& incident : outcome_.incidents)
      if (is_about(incident, planted)) own.push_back(&incident);
    score_.true_reports += own.size();
    if (own.size() != 1)
      return note(fmt::format("{}: filed {} times", text_of(planted), own.size()));
    ++score_.found;
    check_times(planted, *own.front());
    check_closing(planted, *own.front());
    bool const is_right = !culprit.hex.empty() && own.front()->culprit == culprit;
    if (is_right) ++score_.explained;
  }

  void check_times(Planted const& planted, FoundIncident const& incident) {
    score_.nights_to_detect.push_back(incident.opened - planted.begins);
    auto const latest = day_that_shows(plan_, planted.model, planted.begins, unlucky_nights);
    if (incident.opened > latest)
      note(fmt::format("{}: filed on day {}, expected {} at the latest",
                       text_of(planted),
                       incident.opened,
                       latest));
    if (!incident.explained.empty())
      score_.nights_to_explain.push_back(incident.explained.front() - planted.begins);
  }

  void check_closing(Planted const& planted, FoundIncident const& incident) {
    if (incident.closed.size() != 1)
      return note(fmt::format("{}: closed {} times", text_of(planted), incident.closed.size()));
    auto const day = incident.closed.front();
    if (day < planted.ends)
      return note(fmt::format("{}: closed on day {}, before its end", text_of(planted), day));
    ++score_.closed;
    score_.nights_to_close.push_back(day - planted.ends);
    auto const latest = day_that_shows(plan_, planted.model, planted.ends, unlucky_nights);
    if (day > latest)
      note(fmt::format(
          "{}: closed on day {}, expected {} at the latest", text_of(planted), day, latest));
    if (!incident.is_fixed || !incident.is_issue_closed)
      note(text_of(planted) + ": it or its issue is open at the end");
  }

  void check_false_reports() {
    for (auto const& incident : outcome_.incidents) {
      bool const is_true = std::ranges::any_of(
          plan_.planted, [&](Planted const& planted) { return is_about(incident, planted); });
      if (!is_true) note(text_of(incident) + ": nothing was planted");
    }
  }

  void check_explanations() {
    if (share(score_.explained, score_.found) < least_explained)
      note(fmt::format(
          "the right culprit was named for {} of {} incidents", score_.explained, score_.found));
  }

  void check_drift() {
    std::size_t const expected = is_drift_to_be_found(plan_) ? 1 : 0;
    if (outcome_.drift_alarms < expected) note("the drift raised no alarm");
    if (outcome_.other_drift_alarms > 0)
      note(fmt::format("{} alarms of drift without one", outcome_.other_drift_alarms));
  }

  void check_messages() {
    auto const& [issues, lost, twice, unsent] = outcome_.published;
    if (issues != outcome_.incidents.size())
      note(fmt::format("{} issues of {} incidents", issues, outcome_.incidents.size()));
    if (lost > 0) note(fmt::format("{} messages were lost", lost));
    if (twice > 0) note(fmt::format("{} messages arrived twice", twice));
    if (unsent > 0) note(fmt::format("{} messages were not sent", unsent));
    if (outcome_.days_not_judged > 0)
      note(fmt::format("{} nightlies have not ended", outcome_.days_not_judged));
  }

  void check_resources() {
    if (outcome_.samples.size() != 3) return note("resources were not measured three times");
    auto const& start = outcome_.samples[0];
    auto const& middle = outcome_.samples[1];
    auto const& end = outcome_.samples[2];
    auto const days = static_cast<std::int64_t>(end.day - middle.day);
    auto const grown = end.memory_bytes - middle.memory_bytes;
    if (is_memory_measurable && grown > memory_slack + days * memory_of_a_day)
      note(fmt::format("the memory grew by {} KiB in {} days", grown >> 10, days));
    if (end.descriptors > middle.descriptors + descriptor_slack)
      note(fmt::format("the open files grew from {} to {}", middle.descriptors, end.descriptors));
    double const first = growth_a_day(start, middle);
    double const second = growth_a_day(middle, end);
    if (second > more_growth * first + growth_slack)
      note(fmt::format("the database grew by {:.0f} bytes a day, then by {:.0f}", first, second));
  }

  static double growth_a_day(Resources const& from, Resources const& to) {
    auto const days = static_cast<double>(std::max<std::size_t>(to.day - from.day, 1));
    return static_cast<double>(to.database_bytes - from.database_bytes) / days;
  }

  Plan const& plan_;
  Outcome const& outcome_;
  Score score_;
};

/// "median 0, at most 3".
std::string spread_of(std::vector<std::size_t> values) {
  if (values.empty()) return "none";
  std::ranges::sort(values);
  return fmt::format("median {}, at most {}", values[values.size() / 2], values.back());
}

std::size_t count(Plan const& plan, Habit habit) {
  return static_cast<std::size_t>(std::ranges::count(plan.days, habit, &PlannedDay::habit));
}

std::string line(std::string const& name, std::string const& value) {
  return fmt::format("{:<20}{}\n", name, value);
}

std::string part_of(std::size_t part, std::size_t all) {
  return fmt::format("{:.1f}% ({} of {})", 100 * share(part, all), part, all);
}

std::string world_of(Plan const& plan, Outcome const& outcome) {
  return line("days",
              fmt::format("{}, of which missing {}, broken {}, late {}, published twice {}",
                          plan.days.size(),
                          count(plan, Habit::missing),
                          count(plan, Habit::broken),
                          count(plan, Habit::late),
                          count(plan, Habit::twice))) +
         line("GitHub down",
              fmt::format("{} days",
                          std::ranges::count(plan.days, true, &PlannedDay::is_github_down))) +
         line("disk full",
              fmt::format("{} days, {} failed writes",
                          std::ranges::count(plan.days, true, &PlannedDay::is_disk_full),
                          outcome.failed_writes)) +
         line("kills", fmt::format("{}", outcome.kills)) +
         line("failed passes", fmt::format("{}", outcome.failed_passes));
}

std::string resources_of(Outcome const& outcome) {
  auto text = fmt::format("{:<20}{:>8}{:>16}{:>16}{:>12}\n",
                          "resources",
                          "day",
                          "database KiB",
                          "memory KiB",
                          "open files");
  for (auto const& [day, database, memory, descriptors] : outcome.samples)
    text += fmt::format(
        "{:<20}{:>8}{:>16}{:>16}{:>12}\n", "", day, database >> 10, memory >> 10, descriptors);
  return text;
}

}  // namespace

Score score_of(Plan const& plan, Outcome const& outcome) {
  return Scorer{plan, outcome}.take();
}

std::string table_of(Plan const& plan, Outcome const& outcome, Score const& score) {
  auto text = world_of(plan, outcome) +
              line("planted",
                   fmt::format("{} above the threshold, {} below",
                               score.to_be_filed,
                               plan.planted.size() - score.to_be_filed)) +
              line("precision", part_of(score.true_reports, score.reports)) +
              line("recall", part_of(score.found, score.to_be_filed)) +
              line("right culprit", part_of(score.explained, score.found)) +
              line("closed once", part_of(score.closed, score.found)) +
              line("nights to detect", spread_of(score.nights_to_detect)) +
              line("nights to explain", spread_of(score.nights_to_explain)) +
              line("nights to close", spread_of(score.nights_to_close)) +
              line("drift alarms", fmt::format("{}", outcome.drift_alarms)) +
              line("processes a night", spread_of(outcome.processes)) +
              line("time", fmt::format("{:.0f} s", outcome.seconds)) + resources_of(outcome);
  for (auto const& problem : score.problems)
    text += "problem: " + problem + '\n';
  return text;
}

}  // namespace torchwatch::soak
