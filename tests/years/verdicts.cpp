#include "tests/years/verdicts.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "daemon/measure/job.h"

namespace torchwatch::years {
namespace {

using Judges = std::vector<bisect::Compare>;

Judges judges_for(Question const& question, Suite const& suite) {
  config::DecideOptions decide;
  decide.threshold = question.threshold;
  Judges judges;
  for (auto const series : question.series)
    judges.emplace_back(suite.series[series].series.metric, decide);
  return judges;
}

/// `round`: before and after.
void hear(Judges& judges,
          Question const& question,
          Suite const& suite,
          std::span<JobOutcome const> round) {
  for (std::size_t i = 0; i < judges.size(); ++i) {
    auto const metric = suite.series[question.series[i]].series.metric;
    auto const levels = measure::levels_in(round, metric);
    if (levels && !judges[i].answer()) judges[i].add({levels->front(), levels->back()});
  }
}

bool are_decided(Judges const& judges) {
  return std::ranges::all_of(judges, [](auto const& judge) { return judge.answer().has_value(); });
}

}  // namespace

Answered answer(Processes const& processes,
                Question const& question,
                Chance& chance,
                std::vector<JobOutcome> outcomes) {
  constexpr std::size_t both = 2;
  auto const& suite = processes.suite();
  auto judges = judges_for(question, suite);
  for (std::size_t at = 0; at + 1 < outcomes.size(); at += both)
    hear(judges, question, suite, std::span{outcomes}.subspan(at, both));
  while (!are_decided(judges)) {
    auto const number = static_cast<int>(outcomes.size() / both);
    auto round = processes.round(question.benchmark, question.pair, number, question.when, chance);
    hear(judges, question, suite, round);
    std::ranges::move(round, std::back_inserter(outcomes));
  }
  Answered answered;
  for (std::size_t i = 0; i < judges.size(); ++i) {
    answered.changes.push_back({suite.series[question.series[i]].series, *judges[i].answer()});
    answered.pairs.push_back(judges[i].pairs());
  }
  answered.outcomes = std::move(outcomes);
  return answered;
}

}  // namespace torchwatch::years
