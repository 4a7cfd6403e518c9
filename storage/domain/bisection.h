#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "storage/domain/benchmark.h"
#include "storage/domain/build.h"
#include "storage/domain/clock.h"
#include "storage/domain/comparison.h"
#include "storage/domain/ids.h"

namespace torchwatch {

/// Which way a value must move to count. `increase` is slower or fatter.
enum class Direction { increase, decrease, both };

enum class BisectionState { queued, running, done, failed };

/// How a search ended.
enum class BisectionOutcome {
  culprit,  ///< one commit, proved against its parent
  range,    ///< several commits that could not be told apart: they do not build, or their proof
            ///< failed
  not_reproduced,  ///< the two ends do not differ when measured again
};

/// What one commit turned out to be.
enum class StepVerdict {
  good,  ///< behaves like the start
  bad,   ///< behaves like the end
  skip,  ///< could not be built or could not be told
};

std::string_view to_string(Direction direction);
std::string_view to_string(BisectionState state);
std::string_view to_string(BisectionOutcome outcome);
std::string_view to_string(StepVerdict verdict);
std::optional<Direction> parse_direction(std::string_view text);
std::optional<BisectionState> parse_bisection_state(std::string_view text);
std::optional<BisectionOutcome> parse_bisection_outcome(std::string_view text);
std::optional<StepVerdict> parse_step_verdict(std::string_view text);

/// What to search for. Two requests that are equal ask for the same search.
struct BisectionRequest {
  CommitSha start;             ///< known good, not a suspect
  CommitSha end;               ///< known bad, the newest suspect
  std::vector<Series> series;  ///< at least one; the one that moved most leads
  double threshold = 0.07;     ///< relative change that counts
  Direction direction = Direction::increase;
};

/// One commit that was tried.
struct BisectionStep {
  CommitSha commit;
  StepVerdict verdict = StepVerdict::skip;
  std::string
      note;  ///< evidence or reason: "0.98 of the start, 5 rounds", "recipe exit status 125"
};

/// The search for the culprit commits of an incident, or one asked for by a person.
struct Bisection {
  BisectionId id;
  std::optional<IncidentId> incident;
  BisectionRequest request;
  BisectionState state = BisectionState::queued;
  std::vector<BisectionStep> steps;  ///< in the order tried
  std::optional<BisectionOutcome> outcome;
  std::vector<Commit> suspects;     ///< the culprit alone, or the range, oldest first
  std::optional<Series> lead;       ///< the series that decided
  std::optional<Comparison> proof;  ///< the culprit against its parent, on the leading series
  std::vector<Series> explained;    ///< series whose change the culprit explains
  std::string failure;
  Timestamp asked_at{};
};

}  // namespace torchwatch
