#include "daemon/bisecting.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include "bisect/classify.h"
#include "bisect/search.h"

namespace torchwatch {
namespace asio = boost::asio;

namespace {

std::string campaign_of(Bisection const& bisection, std::string const& what) {
  return "bisect/" + std::to_string(bisection.id.value) + "/" + what;
}

/// Series of one benchmark on one fleet are measured by the same processes.
std::vector<std::vector<Series>> by_benchmark(std::vector<Series> const& series) {
  std::map<std::pair<std::string, Benchmark>, std::vector<Series>> groups;
  for (auto const& one : series)
    groups[{one.fleet, one.benchmark}].push_back(one);
  std::vector<std::vector<Series>> result;
  for (auto& [key, group] : groups)
    result.push_back(std::move(group));
  return result;
}

bool moved(Comparison const& comparison, Direction direction) {
  switch (direction) {
    case Direction::increase:
      return comparison.verdict == Verdict::regression;
    case Direction::decrease:
      return comparison.verdict == Verdict::improvement;
    case Direction::both:
      return comparison.verdict == Verdict::regression ||
             comparison.verdict == Verdict::improvement;
  }
  return false;
}

/// How easily a change is told from noise: its log ratio in units of its interval. Exact metrics
/// come first.
double clarity(SeriesChange const& change) {
  constexpr double exact = 1e9;
  if (is_deterministic(change.series.metric)) return exact;
  if (!change.comparison.ratio) return 0;
  auto const& interval = *change.comparison.ratio;
  return std::abs(std::log(interval.ratio)) /
         std::max(1e-9, std::log(interval.high) - std::log(interval.low));
}

std::string why_not_measured(std::vector<JobOutcome> const& outcomes) {
  std::string why = "could not be measured";
  for (auto const& outcome : outcomes)
    if (!outcome.ok())
      why += ": " + short_of(outcome.key.commit) + " " + outcome.error_code + " " + outcome.error;
  return why;
}

/// This search cannot be done, now or later.
Error impossible(std::string message) {
  return Error{ErrorCode::invalid_argument, std::move(message)};
}

}  // namespace

struct Bisecting::Ends {
  Build start;
  Build end;
  std::vector<SeriesChange> moved;  ///< clearest first
  bisect::Noise noise;              ///< of the clearest
};

config::DecideOptions Bisecting::options_of(Bisection const& bisection) const {
  auto options = decide_;
  options.threshold = bisection.request.threshold;
  return options;
}

asio::awaitable<Result<Bisection>> Bisecting::run(Bisection bisection) {
  auto const& request = bisection.request;
  spdlog::info("bisection_started id={} start={} end={} series={}",
               bisection.id.value,
               short_of(request.start),
               short_of(request.end),
               request.series.size());
  bisection.state = BisectionState::running;
  store_.bisections().update(bisection);
  auto const done = co_await search(bisection);
  if (!done && done.error().code != ErrorCode::invalid_argument) co_return done.error();
  bisection.state = done ? BisectionState::done : BisectionState::failed;
  if (!done) bisection.failure = done.error().message;
  store_.bisections().update(bisection);
  spdlog::info("bisection_finished id={} outcome={} suspects={} first={} tried={} failure=\"{}\"",
               bisection.id.value,
               bisection.outcome ? to_string(*bisection.outcome) : "none",
               bisection.suspects.size(),
               bisection.suspects.empty() ? "" : short_of(bisection.suspects.front().sha),
               bisection.steps.size(),
               bisection.failure);
  co_return bisection;
}

asio::awaitable<Result<>> Bisecting::search(Bisection& bisection) {
  auto history = bisect::GitHistory::open(source_.repository);
  if (!history) co_return impossible(history.error().message);
  auto const span = history->commits_between(bisection.request.start, bisection.request.end);
  if (!span) co_return impossible(span.error().message);

  auto const ends = co_await measure_ends(bisection);
  if (!ends) co_return ends.error();
  if (ends->moved.empty()) {
    bisection.outcome = BisectionOutcome::not_reproduced;
    co_return Result<>{};
  }
  bisection.lead = ends->moved.front().series;

  auto const left = co_await narrow(bisection, *ends, *span);
  if (!left) co_return left.error();
  bisection.suspects.clear();
  for (auto const& commit : *span)
    if (std::find(left->begin(), left->end(), commit.sha) != left->end())
      bisection.suspects.push_back(commit);
  bisection.outcome = BisectionOutcome::range;
  if (bisection.suspects.size() > 1) co_return Result<>{};
  co_return co_await prove(bisection, *ends, *history);
}

asio::awaitable<Result<Build>> Bisecting::build_end(CommitSha commit) {
  auto const attempt = co_await builder_.build(commit);
  if (!attempt) co_return attempt.error();
  if (!attempt->build)
    co_return impossible("end " + commit.hex + " cannot be built: " + attempt->note);
  co_return *attempt->build;
}

asio::awaitable<Result<Bisecting::Ends>> Bisecting::measure_ends(Bisection const& bisection) {
  Ends ends;
  auto const start = co_await build_end(bisection.request.start);
  if (!start) co_return start.error();
  ends.start = *start;
  auto const end = co_await build_end(bisection.request.end);
  if (!end) co_return end.error();
  ends.end = *end;
  auto const options = options_of(bisection);
  Duel const duel{campaign_of(bisection, "ends"), ends.start, ends.end};
  std::vector<std::pair<SeriesChange, std::vector<bisect::Pair>>> found;
  for (auto const& group : by_benchmark(bisection.request.series)) {
    auto* const fleet = fleets_.find(group.front().fleet);
    if (fleet == nullptr) co_return impossible("no fleet is named " + group.front().fleet);
    auto result = co_await compare_builds(measuring_, *fleet, duel, group, options);
    for (std::size_t i = 0; i < result.changes.size(); ++i)
      if (moved(result.changes[i].comparison, bisection.request.direction))
        found.emplace_back(std::move(result.changes[i]), std::move(result.pairs[i]));
  }
  std::stable_sort(found.begin(), found.end(), [](auto const& a, auto const& b) {
    return clarity(a.first) > clarity(b.first);
  });
  if (!found.empty()) ends.noise = bisect::noise_of(found.front().second);
  for (auto& [change, pairs] : found)
    ends.moved.push_back(std::move(change));
  co_return ends;
}

asio::awaitable<Result<std::vector<CommitSha>>> Bisecting::narrow(Bisection& bisection,
                                                                  Ends const& ends,
                                                                  std::vector<Commit> const& span) {
  std::vector<CommitSha> shas;
  for (auto const& commit : span)
    shas.push_back(commit.sha);
  bisect::Search search{std::move(shas)};
  for (auto const& step : bisection.steps) {  // of a run that was cut off
    auto const replayed = search.report(step.commit, step.verdict);
    if (!replayed) co_return replayed.error();
  }
  while (auto const next = search.next()) {
    auto const step = co_await try_commit(bisection, ends, *next);
    if (!step) co_return step.error();
    auto const reported = search.report(step->commit, step->verdict);
    if (!reported) co_return reported.error();
    store_.bisections().add_step(bisection.id, *step);
    bisection.steps.push_back(*step);
    spdlog::info("bisection_step id={} commit={} verdict={} suspects={} note=\"{}\"",
                 bisection.id.value,
                 short_of(step->commit),
                 to_string(step->verdict),
                 search.suspects().size(),
                 step->note);
  }
  auto const left = search.suspects();
  co_return std::vector<CommitSha>(left.begin(), left.end());
}

asio::awaitable<Result<BisectionStep>> Bisecting::try_commit(Bisection const& bisection,
                                                             Ends const& ends,
                                                             CommitSha commit) {
  auto const attempt = co_await builder_.build(commit);
  if (!attempt) co_return attempt.error();
  if (!attempt->build) co_return BisectionStep{commit, StepVerdict::skip, attempt->note};
  auto const& series = *bisection.lead;
  auto lease = co_await fleets_.find(series.fleet)->lease();
  auto const options = options_of(bisection);
  std::vector<bisect::Round> rounds;
  std::optional<StepVerdict> verdict;
  while (!verdict) {
    RoundKey key{campaign_of(bisection, short_of(commit)),
                 series.benchmark,
                 static_cast<int>(rounds.size())};
    std::vector<Build> builds{ends.start, *attempt->build, ends.end};
    auto const outcomes = co_await measuring_.round(lease, std::move(key), std::move(builds));
    auto const levels = levels_in(outcomes, series.metric);
    if (!levels) co_return BisectionStep{commit, StepVerdict::skip, why_not_measured(outcomes)};
    rounds.push_back({levels->at(0), levels->at(1), levels->at(2)});
    verdict = bisect::classify(rounds, ends.noise, series.metric, options);
  }
  auto const& last = rounds.back();
  auto note = fmt::format("{} rounds; last: start {:.4g}, this {:.4g}, end {:.4g} {}",
                          rounds.size(),
                          last.start,
                          last.candidate,
                          last.end,
                          unit_of(series.metric));
  co_return BisectionStep{commit, *verdict, std::move(note)};
}

asio::awaitable<Result<>> Bisecting::prove(Bisection& bisection,
                                           Ends const& ends,
                                           bisect::GitHistory& history) {
  auto const culprit = bisection.suspects.front().sha;
  auto const parent = history.parent(culprit);
  if (!parent) co_return impossible(parent.error().message);
  auto const before = co_await builder_.build(*parent);
  if (!before) co_return before.error();
  auto const after = co_await builder_.build(culprit);
  if (!after) co_return after.error();
  if (!before->build || !after->build) co_return Result<>{};  // stays a range of one, unproved
  Duel const duel{campaign_of(bisection, "proof"), *before->build, *after->build};
  std::vector<Series> series;
  for (auto const& change : ends.moved)
    series.push_back(change.series);
  auto const options = options_of(bisection);
  bisection.explained.clear();
  for (auto const& group : by_benchmark(series)) {
    auto const result = co_await compare_builds(
        measuring_, *fleets_.find(group.front().fleet), duel, group, options);
    for (auto const& change : result.changes) {
      if (moved(change.comparison, bisection.request.direction))
        bisection.explained.push_back(change.series);
      if (change.series == *bisection.lead) {
        bisection.proof = change.comparison;
        if (moved(change.comparison, bisection.request.direction))
          bisection.outcome = BisectionOutcome::culprit;
      }
    }
  }
  co_return Result<>{};
}

}  // namespace torchwatch
