#include "bisect/search/search.h"

#include <fmt/format.h>

#include "bisect/compare/compare.h"
#include "tests/fuzz/doubles.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

constexpr std::size_t most_commits = 12;
constexpr int most_readings = 40;
constexpr std::size_t most_layouts = 2;

CommitSha sha_of(std::size_t position) {
  return {fmt::format("{:040}", position)};
}

/// A search among a few commits. The input has the values that their builds measure.
class Searched {
 public:
  explicit Searched(std::string_view input) : doubles_{input} {
    constexpr Metric metrics[] = {Metric::latency, Metric::cmem, Metric::leak};
    series_ = {"fleet",
               {"model", Test::eval, Device::cpu, "eager"},
               metrics[doubles_.byte() % std::size(metrics)]};
    count_ = 1 + doubles_.byte() % most_commits;
    broken_ = doubles_.byte();
    is_unbuilt_ = doubles_.byte() % 2 == 0;
    decide_.max_pairs = most_readings;
    options_.max_readings = most_readings;
  }

  void run() {
    auto search = begin();
    std::vector<Finding> findings;
    for (std::size_t rest = 0; rest < most_commits; ++rest) {
      take_steps(search);
      if (confirm(search)) take_steps(search);
      require(search.to_confirm().empty(), "ends are confirmed once");
      auto found = search.find();
      if (found.empty()) break;
      for (auto& finding : found) {
        while (auto const layout = bisect::layout_to_compare(finding, most_layouts))
          prove(search, finding, *layout);
        if (finding.suspects.size() == 1) search.explain(finding);
        findings.push_back(std::move(finding));
      }
    }
    search.conclude(findings);
    for (auto const& finding : findings)
      check(finding);
  }

 private:
  bisect::Search begin() const {
    BisectionRequest request{sha_of(0), sha_of(count_), {series_}};
    std::vector<Commit> suspects;
    for (std::size_t i = 1; i <= count_; ++i)
      suspects.push_back({sha_of(i), "", "", {}, {}});
    bisect::Suspects all{std::move(suspects), std::vector<double>(count_, 1.0)};
    return {request, std::move(all), decide_, options_};
  }

  void take_steps(bisect::Search& search) {
    bisect::StepCosts const costs{60,
                                  [](std::size_t) { return 600.0; },
                                  [](std::size_t) {
                                    return 0.9;
                                  }};
    while (true) {
      auto steps = search.next(costs, 1);
      if (steps.empty()) return;
      for (auto& step : steps)
        take(search, step);
    }
  }

  void take(bisect::Search& search, BisectionStep& step) {
    require(++steps_ < 1000, "a search ends");
    auto& levels = step.readings.emplace_back(MetricLevels{series_.metric, {}}).levels;
    for (auto const& commit : step.commits) {
      levels.push_back(doubles_.next());
      if (is_broken(search.position_of(commit))) step.skipped = commit;
    }
    step.is_unbuilt = step.skipped && is_unbuilt_;
    step.is_done = true;
    search.learn(step);
    for (auto const& belief : search.beliefs())
      require(belief.probability >= 0 && belief.probability <= 1.000001,
              "a belief is a probability");
  }

  /// True for an unusable commit. The ends are never unusable.
  bool is_broken(std::size_t position) const {
    return position > 0 && position < count_ && (broken_ >> position % 8 & 1) != 0;
  }

  void prove(bisect::Search& search, Finding& finding, std::size_t layout) {
    for (auto& effect : finding.effects) {
      bisect::Compare compare{series_.metric, decide_};
      while (!compare.answer()) {
        double const before = doubles_.next();
        compare.add({before, doubles_.next()});
      }
      (layout == 0 ? effect.proof : effect.rebuilt) = compare.answer();
      search.learn(series_, finding.suspects.front(), compare.pairs(), layout);
    }
  }

  /// Confirms the ends. Returns true if any series needed it.
  bool confirm(bisect::Search& search) {
    auto const all = search.to_confirm();
    for (auto const& series : all) {
      bisect::Compare compare{series.metric, bisect::to_confirm_ends(decide_)};
      while (!compare.answer()) {
        double const before = doubles_.next();
        compare.add({before, doubles_.next()});
      }
      search.learn(series, compare.pairs(), 1);
    }
    return !all.empty();
  }

  static void check(Finding const& finding) {
    require(!finding.suspects.empty() && !finding.effects.empty(),
            "a finding has suspects and effects");
    for (auto const& effect : finding.effects)
      require(effect.probability >= 0 && effect.probability <= 1.000001,
              "a stated probability is valid");
  }

  Doubles doubles_;
  Series series_;
  std::size_t count_ = 1;
  unsigned broken_ = 0;
  bool is_unbuilt_ = false;  // broken commits do not build; otherwise they do not run
  config::DecideOptions decide_;
  config::BisectOptions options_;
  int steps_ = 0;
};

}  // namespace

/// Four bytes for the metric, the number of commits, the broken ones and whether these are built.
/// Then levels of any doubles.
void search(std::string_view input) {
  Searched{input}.run();
}

}  // namespace torchwatch::fuzz
