#include "storage/domain/words.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <ranges>
#include <string_view>

#include <fmt/format.h>

namespace torchwatch::words {
namespace {

std::string milliseconds(double value) {
  return std::abs(value) < 1000 ? fmt::format("{:.4g} ms", value) : fmt::format("{:.0f} ms", value);
}

/// Four digits, or all before the decimal point: "12.34", "123456".
std::string four_digits(double value) {
  constexpr double many = 1'000;
  return std::abs(value) < many ? fmt::format("{:.4g}", value) : fmt::format("{:.0f}", value);
}

std::string bytes(double value) {
  constexpr std::array<std::string_view, 4> units{"KiB", "MiB", "GiB", "TiB"};
  if (std::abs(value) < 1024) return fmt::format("{:.4g} bytes", value);
  std::size_t unit = 0;
  for (value /= 1024; std::abs(value) >= 1024 && unit + 1 < units.size(); ++unit)
    value /= 1024;
  return fmt::format("{:.2f} {}", value, units.at(unit));
}

// ---- changes ----

/// A ratio that is printed as "+0.0%" is no closer to 1 than this.
constexpr double visible = 0.0005;

/// A ratio's distance from 1, with two digits or more: "7.4%", "12%".
std::string amount(double ratio) {
  constexpr double ten = 9.95;  // is printed as 10
  double const distance = std::abs(ratio - 1) * 100;
  return distance < ten ? fmt::format("{:.1f}%", distance) : fmt::format("{:.0f}%", distance);
}

std::string more_or_less(double before, double after) {
  return amount(after / before) + (after > before ? " more" : " less");
}

std::string claim_on_time(double before, double after) {
  if (before <= 0)
    return fmt::format("takes {} instead of {}", milliseconds(after), milliseconds(before));
  if (after > before) return "is " + amount(after / before) + " slower";
  return "takes " + amount(after / before) + " less time";
}

std::string claim_on_memory(std::string_view kind, double before, double after) {
  if (before <= 0)
    return fmt::format("uses {} of {} instead of {}", bytes(after), kind, bytes(before));
  return fmt::format("uses {} {}", more_or_less(before, after), kind);
}

std::string claim_on_leak(double before, double after) {
  if (after <= 0) return "no longer leaks";
  if (before <= 0) return fmt::format("leaks {} per iteration", bytes(after));
  return fmt::format("leaks {} per iteration", more_or_less(before, after));
}

std::string claim_on_other(Metric metric, double before, double after) {
  if (before <= 0 || after <= 0)
    return fmt::format(
        "has a {} of {} instead of {}", metric.name(), level(metric, after), level(metric, before));
  return fmt::format(
      "has a {} {} {}", amount(after / before), after > before ? "higher" : "lower", metric.name());
}

/// The part of the interval that matters for the verdict; empty where it has no end on that side.
std::string bounds(Verdict verdict, RatioInterval const& interval) {
  auto const& [ratio, low, high] = interval;
  if (low == high) return "exact";
  bool const is_change = verdict == Verdict::regression || verdict == Verdict::improvement;
  if (is_change && low >= 1) return low >= 1 + visible ? "at least " + percent(low) : "an increase";
  if (is_change)
    return high <= 1 - visible ? fmt::format("at least {:.1f}% less", (1 - high) * 100)
                               : "a decrease";
  bool const has_ends = low > 0 && std::isfinite(high);
  return has_ends ? fmt::format("between {} and {}", percent(low), percent(high)) : "";
}

// ---- effects ----

/// The levels that the bisection itself measured.
std::string seen(Effect const& effect) {
  auto const metric = effect.series.metric;
  auto const levels = level(metric, effect.before) + " to " + level(metric, effect.after);
  if (effect.before <= 0) return "during the bisection " + levels;
  return fmt::format("during the bisection {} ({})", percent(effect.after / effect.before), levels);
}

/// A comparison with its verdict. `with`: "against its parent".
std::string compared(std::string_view with, Metric metric, Comparison const& comparison) {
  auto const all = figures(metric, comparison);
  if (comparison.verdict == Verdict::unchanged) return fmt::format("no change {}: {}", with, all);
  if (comparison.verdict == Verdict::inconclusive)
    return fmt::format("inconclusive {}: {}", with, all);
  return fmt::format("{} {}", with, all);
}

std::string explained(Effect const& effect) {
  if (!is_proved(effect)) return {};
  return fmt::format(", {} {} of the regression",
                     effect.share < 0 ? "offsets" : "explains",
                     share(std::abs(effect.share)));
}

std::string proof(Effect const& effect, Finding const& finding) {
  if (!effect.proof) return "not compared with its parent";
  auto const* const with = finding.missing > 0 ? "without it" : "against its parent";
  return compared(with, effect.series.metric, *effect.proof) + explained(effect);
}

std::string rebuilt(Effect const& effect) {
  return compared(
             "when both were rebuilt with another layout", effect.series.metric, *effect.rebuilt) +
         (effect.is_doubted ? ", but this is no proof: builds of one commit differ by as much"
                            : "");
}

std::string_view revert_result(Effect const& effect) {
  if (is_undone_by_revert(effect)) return " undoes this";
  if (effect.revert_check->verdict == Verdict::inconclusive) return " was inconclusive";
  return is_proved(effect) ? " does not undo this" : "";
}

std::string reverted(Effect const& effect) {
  return fmt::format("reverting it on the newest commit{}: {}",
                     revert_result(effect),
                     figures(effect.series.metric, *effect.revert_check));
}

// ---- findings ----

bool is_improvement(Finding const& finding) {
  return kind_of(finding) == FindingKind::improvement;
}

/// The name of a lone commit that is proved. One that the end lacks did the opposite.
std::string_view proved_name(Finding const& finding) {
  bool const improved = is_improvement(finding);
  if (finding.missing > 0) return improved ? "Missing regression" : "Missing improvement";
  return improved ? "Improvement" : "Culprit";
}

/// The name of a lone commit without a proof.
std::string_view likely_name(Finding const& finding) {
  bool const improved = is_improvement(finding);
  if (finding.missing > 0)
    return improved ? "Most likely missing regression" : "Most likely missing improvement";
  return improved ? "Most likely commit of an improvement" : "Most likely commit";
}

Summary of_one_commit(Finding const& finding) {
  if (is_culprit(finding)) return {std::string{proved_name(finding)}, "proved against its parent"};
  if (kind_of(finding) == FindingKind::layout)
    return {"Not to blame", "one build of this commit differs, another does not"};
  bool const was_compared = std::ranges::any_of(
      finding.effects, [](Effect const& effect) { return effect.proof.has_value(); });
  return {std::string{likely_name(finding)},
          was_compared ? "not confirmed against its parent" : "not compared with its parent"};
}

/// "; the bad build lacks the first 2 of them"; empty where it has all suspects.
std::string lacking(Finding const& finding) {
  auto const count = static_cast<int>(finding.suspects.size());
  if (finding.missing == 0) return {};
  if (count == 1) return "; the bad build lacks it";
  if (finding.missing == count) return "; the bad build lacks all of them";
  return fmt::format("; the bad build lacks the first {} of them", finding.missing);
}

Summary of_gradual_change(Finding const& finding) {
  auto const& effect = finding.effects.front();
  auto const each = effect.before > 0 && effect.after > 0
                        ? fmt::format(", {:+.2f}% each on average",
                                      100 * (ratio_per_suspect(finding, effect) - 1))
                        : "";
  return {fmt::format("Many of {} commits", finding.suspects.size()),
          fmt::format("together they caused {}{}; there is no single culprit",
                      is_improvement(finding) ? "an improvement" : "the regression",
                      each)};
}

/// "; it is a merge of 5 commits, searched by bisection 2; already reverted on trunk by
/// 0123456789ab"; empty where nothing else is known of the commit.
std::string other_landings(Finding const& finding) {
  std::string text;
  if (finding.merged > 0) text += "; it is a merge of " + commits(finding.merged);
  if (finding.searched_by)
    text += fmt::format(", searched by bisection {}", finding.searched_by->value);
  if (finding.reverted_by)
    text += "; already reverted on trunk by " + short_of(*finding.reverted_by);
  if (finding.earlier)
    text += fmt::format("; the culprit of incident {} had the same title or pull request",
                        finding.earlier->id.value);
  return text;
}

bool is_certain(Effect const& effect) {
  return effect.probability >= certain;
}

Summary of_range(Finding const& finding, Bisection const& bisection) {
  bool const is_sure = bisection.outcome != BisectionOutcome::undecided &&
                       std::ranges::all_of(finding.effects, is_certain);
  return {
      fmt::format("{} of {} commits", is_sure ? "One" : "Most likely one", finding.suspects.size()),
      fmt::format("it is not known which of them caused {}",
                  is_improvement(finding) ? "an improvement" : "the regression")};
}

// ---- outcomes ----

bool was_measured(BisectionStep const& step, CommitSha const& commit) {
  return !step.readings.empty() && std::ranges::count(step.commits, commit) > 0;
}

/// True when a step explains why this commit is still a suspect of the finding.
bool concerns(BisectionStep const& step, CommitSha const& commit, Finding const& finding) {
  bool const is_of_finding = std::ranges::any_of(finding.effects, [&step](Effect const& effect) {
    return step.fleet == effect.series.fleet && step.benchmark == effect.series.benchmark;
  });
  bool const is_skipped = step.skipped == commit;
  return (is_skipped && step.is_unbuilt) ||
         (is_of_finding && (is_skipped || was_measured(step, commit)));
}

Summary of_range_outcome(Bisection const& bisection) {
  Summary summary{bisection.findings.empty() ? "No commit named" : "Range of commits"};
  if (measured_nightlies_alone(bisection))
    summary.reason = "commits are not built here, so only nightlies were measured";
  return summary;
}

/// The outcome of comparing the nightly builds again, after their commits did not differ.
std::string_view of_packages(std::vector<SeriesChange> const& changes) {
  auto const is = [](Verdict verdict) {
    return [verdict](SeriesChange const& one) {
      return one.comparison.verdict == verdict;
    };
  };
  if (changes.empty())
    return "The host may have been busy, or the nightlies were built with different dependencies";
  if (std::ranges::all_of(changes, is(Verdict::unchanged)))
    return "The nightly builds no longer differ either; the host may have been busy";
  if (std::ranges::any_of(changes, is(Verdict::regression)))
    return "The nightly builds still do: they were built differently from the bisection's, and "
           "only they show the change";
  if (std::ranges::any_of(changes, is(Verdict::improvement)))
    return "The nightly builds still do, but now it is the good one that is worse";
  return "Comparing the nightly builds again was inconclusive";
}

Summary of_not_reproduced(Bisection const& bisection) {
  if (measured_nightlies_alone(bisection))
    return {"Not reproduced",
            "the nightly builds did not differ when they were measured again; the host may have "
            "been busy"};
  auto const packages = bisection.packages.value_or(Packages{});
  return {"Not reproduced",
          fmt::format("both commits were built and measured again, and did not differ. {}",
                      of_packages(packages.changes))};
}

bool is_of_last_stage(BisectionStep const& step, Bisection const& bisection, Series const& series) {
  return step.stage == bisection.steps.back().stage && step.fleet == series.fleet &&
         step.benchmark == series.benchmark;
}

/// The step of the last stage in which an end of the series could not be built or measured; null
/// where both ends were measured at least once.
BisectionStep const* missing_end(Bisection const& bisection, Series const& series) {
  for (auto const& end : {bisection.request.start, bisection.request.end}) {
    BisectionStep const* missing = nullptr;
    bool has_levels = false;
    for (auto const& step : bisection.steps) {
      if (!is_of_last_stage(step, bisection, series)) continue;
      has_levels = has_levels || was_measured(step, end);
      if (step.skipped == end) missing = &step;
    }
    if (missing != nullptr && !has_levels) return missing;
  }
  return nullptr;
}

/// The missing end of the last series where every series misses one; else null.
BisectionStep const* end_missing_everywhere(Bisection const& bisection) {
  BisectionStep const* missing = nullptr;
  for (auto const& series : bisection.request.series) {
    missing = missing_end(bisection, series);
    if (missing == nullptr) return nullptr;
  }
  return missing;
}

Summary of_undecided(Bisection const& bisection) {
  auto const* const missing = end_missing_everywhere(bisection);
  if (missing == nullptr)
    return {"Undecided",
            "the bisection ran out of measurements, or of builds to measure, before it was sure"};
  bool const is_start = missing->skipped == bisection.request.start;
  return {"Undecided",
          fmt::format("no series could be measured at both ends; the {} commit",
                      is_start ? "good" : "bad"),
          missing->note};
}

Summary of_outcome(Bisection const& bisection) {
  if (!bisection.outcome) return {"Not finished"};
  switch (*bisection.outcome) {
    case BisectionOutcome::culprit:
      return {bisection.findings.empty() ? "No commit named" : "Culprit proved"};
    case BisectionOutcome::range:
      return of_range_outcome(bisection);
    case BisectionOutcome::environment:
      return {"No commit is to blame (environment)",
              "the two nightly builds differ, but their commits do not when built alike. The "
              "change comes from what the nightlies were built or packaged with"};
    case BisectionOutcome::not_reproduced:
      return of_not_reproduced(bisection);
    case BisectionOutcome::layout:
      return {"No commit is to blame (layout)",
              "what looked like a change is one build's alone. The same commits, built again with "
              "another layout (order of links, padding), do not differ"};
    case BisectionOutcome::undecided:
      return of_undecided(bisection);
  }
  return {};
}

/// True when the commits of a merge do not show the change, so that the merge itself made it.
bool is_merge_itself(Bisection const& bisection) {
  return bisection.inside && bisection.state == BisectionState::done &&
         bisection.outcome == BisectionOutcome::not_reproduced;
}

/// The one commit that is proved and explains all, of those that a merge brought; else null.
Commit const* culprit_of_merge(Bisection const& bisection) {
  bool const is_alone = bisection.state == BisectionState::done &&
                        bisection.outcome == BisectionOutcome::culprit &&
                        bisection.findings.size() == 1;
  return is_alone ? &bisection.findings.front().suspects.front() : nullptr;
}

Summary of_state(Bisection const& bisection) {
  switch (bisection.state) {
    case BisectionState::failed:
      return {"Failed", {}, bisection.failure};
    case BisectionState::cancelled:
      return {"Cancelled"};
    case BisectionState::paused:
      return {"Paused", "it goes on when it is resumed"};
    case BisectionState::queued:
      return {"Queued", "it has not finished yet"};
    case BisectionState::running:
      return {"Running", "it has not finished yet"};
    case BisectionState::done:
      break;
  }
  return of_outcome(bisection);
}

}  // namespace

std::string full_reason(Summary const& summary) {
  if (summary.reason.empty() || summary.quote.empty()) return summary.reason + summary.quote;
  return summary.reason + ": " + summary.quote;
}

std::string metric_names() {
  std::string names;
  for (auto const metric : all_metrics())
    names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", to_string(metric));
  return names;
}

std::string_view better(Metric metric) {
  return metric.kind().is_higher_better ? "higher" : "lower";
}

std::string label(Metric metric) {
  return metric.name() + (metric.kind().is_higher_better ? " (higher is better)" : "");
}

std::string level(Metric metric, double value) {
  return level(metric.kind().unit, value);
}

std::string level(std::string_view unit, double value) {
  if (unit == "ms") return milliseconds(value);
  if (unit == "bytes") return bytes(value);
  if (unit == "bytes/iteration") return bytes(value) + "/iteration";
  auto const figure = four_digits(value);
  return unit == "1" ? figure : fmt::format("{} {}", figure, unit);
}

std::string percent(double ratio) {
  return fmt::format("{:+.1f}%", (ratio - 1) * 100);
}

std::string interval(std::optional<RatioInterval> const& ratio) {
  if (!ratio) return {};
  return "[" + percent(ratio->low) + ", " + percent(ratio->high) + "]";
}

std::string share(double part) {
  return fmt::format("{:.0f}%", part * 100);
}

std::string probability(double value) {
  constexpr double least = 0.001;
  if (value < least) return "less than 0.1%";
  if (value > 1 - least) return "more than 99.9%";
  return fmt::format("{:.1f}%", value * 100);
}

std::string confidence(double error_bound) {
  constexpr double highest = 0.999;
  return fmt::format("{:.3g}%", 100 * std::min(highest, 1 - error_bound));
}

std::string change(Metric metric, Comparison const& comparison) {
  auto const& [verdict, before, after, ratio, error_bound, pairs] = comparison;
  if (ratio) return percent(ratio->ratio);
  if (!has_levels(comparison)) return "no figure";
  if (before == after) return "no change";
  return fmt::format(
      "from {} to {}", before == 0 ? "0" : level(metric, before), level(metric, after));
}

std::string certainty(Comparison const& comparison) {
  auto const& [verdict, before, after, ratio, error_bound, pairs] = comparison;
  auto const sure = "confidence " + confidence(error_bound);
  if (!ratio) {
    bool const is_known = has_levels(comparison) && verdict != Verdict::inconclusive;
    return is_known ? sure : "";
  }
  auto const known = bounds(verdict, *ratio);
  return known.empty() ? "too few pairs for a range" : known + ", " + sure;
}

std::string figures(Metric metric, Comparison const& comparison) {
  auto const& [verdict, before, after, ratio, error_bound, pairs] = comparison;
  auto text = change(metric, comparison) + " (";
  auto const sure = certainty(comparison);
  if (!sure.empty()) text += sure + "; ";
  if (ratio) text += level(metric, before) + " to " + level(metric, after) + ", ";
  return text + fmt::format("{} pairs of processes)", pairs);
}

std::string claim(Metric metric, double before, double after) {
  if (before == after) return "did not change";
  if (metric == Metric::latency) return claim_on_time(before, after);
  if (metric == Metric::cmem) return claim_on_memory("peak CPU memory", before, after);
  if (metric == Metric::gmem) return claim_on_memory("peak GPU memory", before, after);
  if (metric == Metric::leak) return claim_on_leak(before, after);
  return claim_on_other(metric, before, after);
}

std::string headline(std::vector<SeriesChange> const& changes, std::string_view since) {
  if (changes.empty()) return "all series are muted";
  auto const& [series, comparison, muted] = changes.front();
  auto text =
      name_of(series.benchmark) + " " + claim(series.metric, comparison.before, comparison.after);
  if (!since.empty()) text.append(" since ").append(since);
  if (changes.size() > 1) text += fmt::format(" (and {} more series)", changes.size() - 1);
  return text;
}

Summary summary(Finding const& finding, Bisection const& bisection) {
  if (finding.suspects.size() == 1) {
    auto summary = of_one_commit(finding);
    summary.reason += lacking(finding) + other_landings(finding);
    return summary;
  }
  auto summary = finding.is_gradual ? of_gradual_change(finding) : of_range(finding, bisection);
  summary.reason += lacking(finding);
  return summary;
}

std::string evidence(Effect const& effect, Finding const& finding) {
  std::vector<std::string> parts;
  if (finding.suspects.size() == 1) parts.push_back(proof(effect, finding));
  if (effect.rebuilt) parts.push_back(rebuilt(effect));
  parts.push_back(seen(effect));
  parts.push_back("confidence of the bisection " + probability(effect.probability));
  if (effect.revert_check) parts.push_back(reverted(effect));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Summary suspicion(Commit const& commit, Finding const& finding, Bisection const& bisection) {
  // A commit may have been tried again: the newest step of the last stage counts.
  auto const& steps = bisection.steps;
  auto const step =
      std::ranges::find_if(std::ranges::reverse_view(steps), [&](BisectionStep const& tried) {
        return tried.stage == steps.back().stage && concerns(tried, commit.sha, finding);
      });
  if (step == steps.rend() || step->skipped != commit.sha)
    return {{}, "indistinguishable from its neighbours"};
  return {{}, "could not be built or measured", step->note};
}

std::string commits(int count) {
  return fmt::format("{} commit{}", count, count == 1 ? "" : "s");
}

std::string ancestry(Bisection const& bisection) {
  if (!bisection.ancestry) return {};
  auto const& [base, missing, added] = *bisection.ancestry;
  auto const lacked = fmt::format("{}..{} is missing in it ({})",
                                  short_of(base),
                                  short_of(bisection.request.start),
                                  commits(missing));
  if (added == 0) return "the bad build was built from an older commit: " + lacked;
  return fmt::format("the bad build was built from a side branch: {}, {}..{} is only in it ({})",
                     lacked,
                     short_of(base),
                     short_of(bisection.request.end),
                     commits(added));
}

std::string searched_merge(Bisection const& bisection) {
  if (!bisection.inside) return {};
  auto const& [outer, merge, merged] = *bisection.inside;
  auto const came = fmt::format("{} merge {}",
                                bisection.ancestry ? "the bad build lacks" : "the change came with",
                                short_of(merge));
  auto const brought = fmt::format("the {} that it brought", commits(merged));
  if (is_merge_itself(bisection))
    return fmt::format("{}; both sides together cause it, since it is not in {}", came, brought);
  auto const* const culprit = culprit_of_merge(bisection);
  if (culprit == nullptr) return fmt::format("{}; searched in {}", came, brought);
  return fmt::format("{}: culprit {}, one of {}", came, short_of(culprit->sha), brought);
}

Summary summary(Bisection const& bisection) {
  if (is_merge_itself(bisection)) return {"The merge itself", searched_merge(bisection)};
  auto summary = of_state(bisection);
  auto const text = bisection.inside ? searched_merge(bisection) : ancestry(bisection);
  if (text.empty()) return summary;
  if (!summary.reason.empty())
    summary.reason = text + "; " + summary.reason;
  else
    summary.reason = summary.quote.empty() ? text : text + "; why the bisection failed";
  return summary;
}

Summary package_differences(Bisection const& bisection) {
  if (!bisection.packages) return {};
  if (!bisection.packages->differences.empty())
    return {"Apart from their commits, the two nightly builds differ",
            "- is only in the good one, + only in the bad one"};
  if (bisection.outcome != BisectionOutcome::environment) return {};
  return {"Nothing visible in the two builds explains it", "ask their maintainers"};
}

}  // namespace torchwatch::words
