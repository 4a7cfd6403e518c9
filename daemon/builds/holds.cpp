#include "daemon/builds/holds.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace torchwatch::builds {
namespace fs = std::filesystem;

namespace {

bool is_judged_to_the_end(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done ||
         nightly.state == NightlyState::failed;
}

std::string name_of(Nightly const& nightly, fs::path const& builds) {
  auto const fetched = "nightly-" + std::to_string(nightly.id.value);
  return nightly.prefix.empty() ? fetched : name_in(builds, nightly.prefix);
}

Nightly const* find(std::vector<Nightly> const& nightlies, NightlyId id) {
  auto const found = std::ranges::find(nightlies, id, &Nightly::id);
  return found == nightlies.end() ? nullptr : &*found;
}

/// The one that will come next.
Nightly next_nightly() {
  Nightly next;
  next.date = "9999-12-31";
  return next;
}

class Holding {
 public:
  Holding(std::vector<KeptBuild> const& builds, Needs const& needs)
      : builds_{builds},
        needs_{needs} {}

  void by_nightlies();
  void by_anchors();
  void by_incidents();
  void by_bisections();
  void by_builds();
  void by_people();

  Holds take() { return std::move(holds_); }

 private:
  bool is_kept(std::string const& name) const;
  void hold(std::string const& name, std::string const& who);
  void hold(std::optional<NightlyId> id, std::string const& who);
  void hold(CommitSha const& commit, std::string const& who);
  void hold_between(BisectionRequest const& request, std::string const& who);

  std::vector<KeptBuild> const& builds_;
  Needs const& needs_;
  Holds holds_;
};

bool Holding::is_kept(std::string const& name) const {
  return std::ranges::find(builds_, name, &KeptBuild::name) != builds_.end();
}

void Holding::hold(std::string const& name, std::string const& who) {
  if (!is_kept(name)) return;
  auto& holders = holds_[name];
  if (std::ranges::find(holders, who) == holders.end()) holders.push_back(who);
}

void Holding::hold(std::optional<NightlyId> id, std::string const& who) {
  auto const* const nightly = id ? find(needs_.nightlies, *id) : nullptr;
  if (nightly != nullptr) hold(name_of(*nightly, needs_.builds), who);
}

/// The builds of a commit, whoever made them.
void Holding::hold(CommitSha const& commit, std::string const& who) {
  if (commit.hex.empty()) return;
  for (auto const& build : builds_)
    if (build.name.starts_with(commit.hex + "-")) hold(build.name, who);
  for (auto const& nightly : needs_.nightlies)
    if (nightly.commit == commit) hold(nightly.id, who);
}

void Holding::by_nightlies() {
  for (auto const& nightly : needs_.nightlies) {
    if (is_judged_to_the_end(nightly)) continue;
    hold(nightly.id, "nightly " + nightly.date);
    hold(nightly.commit, "nightly " + nightly.date);
    hold(nightly.baseline, "baseline of nightly " + nightly.date);
  }
  if (auto const baseline = bisect::baseline_of(next_nightly(), needs_.nightlies))
    hold(baseline->id, "baseline of the next nightly");
}

/// The oldest candidate that is there is what Verdicts will choose.
void Holding::by_anchors() {
  std::map<std::string, int> anchored;
  for (auto const& history : needs_.benchmarks) {
    for (auto const& candidate :
         bisect::anchor_candidates(next_nightly(), needs_.nightlies, history)) {
      auto const name = name_of(candidate, needs_.builds);
      if (!is_kept(name)) continue;
      ++anchored[name];
      break;
    }
  }
  for (auto const& [name, benchmarks] : anchored)
    hold(name, fmt::format("anchor of {} benchmark{}", benchmarks, benchmarks == 1 ? "" : "s"));
}

void Holding::by_incidents() {
  for (auto const& incident : needs_.incidents)
    for (auto const end : {incident.baseline, incident.nightly})
      hold(end, fmt::format("incident {}", incident.id.value));
}

void Holding::hold_between(BisectionRequest const& request, std::string const& who) {
  auto const dates_of = [&](CommitSha const& commit) {
    std::vector<std::string> dates;
    for (auto const& nightly : needs_.nightlies)
      if (nightly.commit == commit) dates.push_back(nightly.date);
    return dates;
  };
  auto const starts = dates_of(request.start);
  auto const ends = dates_of(request.end);
  if (starts.empty() || ends.empty()) return;
  for (auto const& nightly : needs_.nightlies)
    if (nightly.date >= starts.front() && nightly.date <= ends.back()) hold(nightly.id, who);
}

void Holding::by_bisections() {
  for (auto const& bisection : needs_.bisections) {
    auto const who = fmt::format("bisection {}", bisection.id.value);
    hold(bisection.request.start, who);
    hold(bisection.request.end, who);
    hold_between(bisection.request, who);
    for (auto const& step : bisection.steps)
      for (auto const& commit : step.commits)
        hold(commit, who);
  }
}

/// As long as they are there themselves, whoever needs them.
void Holding::by_builds() {
  for (auto const& [name, companions] : needs_.companions)
    for (auto const& companion : companions)
      if (is_kept(name)) hold(companion, name);
}

void Holding::by_people() {
  for (auto const& build : builds_)
    if (build.pin) hold(build.name, build.pin->who + ": " + build.pin->why);
}

}  // namespace

Holds holds_on(std::vector<KeptBuild> const& builds, Needs const& needs) {
  Holding holding{builds, needs};
  holding.by_nightlies();
  holding.by_anchors();
  holding.by_incidents();
  holding.by_bisections();
  holding.by_builds();
  holding.by_people();
  return holding.take();
}

std::string name_in(fs::path const& builds, fs::path const& prefix) {
  auto const inside = prefix.lexically_normal().lexically_relative(builds.lexically_normal());
  if (inside.empty() || *inside.begin() == ".." || *inside.begin() == ".") return {};
  return *inside.begin();
}

}  // namespace torchwatch::builds
