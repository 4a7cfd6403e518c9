#include "daemon/builds/build_users.h"

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

/// A nightly later than all others.
Nightly next_nightly() {
  Nightly next;
  next.date = "9999-12-31";
  return next;
}

/// Collects the users of builds. Each kind of user has a function.
class UserCollector {
 public:
  UserCollector(std::vector<KeptBuild> const& builds, BuildReferences const& references)
      : builds_{builds},
        references_{references} {}

  void add_nightlies();
  void add_anchors();
  void add_incidents();
  void add_bisections();
  void add_builds();
  void add_people();

  BuildUsers take() { return std::move(users_); }

 private:
  void add_baseline_of_edition(Nightly const& nightly);
  void add_baselines_of_series(Nightly const& usual);
  bool is_kept(std::string const& name) const;
  void add(std::string const& name, std::string const& user);
  void add(std::optional<NightlyId> id, std::string const& user);
  void add(CommitSha const& commit, std::string const& user);
  void add_between(BisectionRequest const& request, std::string const& user);

  std::vector<KeptBuild> const& builds_;
  BuildReferences const& references_;
  BuildUsers users_;
};

bool UserCollector::is_kept(std::string const& name) const {
  return std::ranges::find(builds_, name, &KeptBuild::name) != builds_.end();
}

void UserCollector::add(std::string const& name, std::string const& user) {
  if (!is_kept(name)) return;
  auto& users = users_[name];
  if (std::ranges::find(users, user) == users.end()) users.push_back(user);
}

void UserCollector::add(std::optional<NightlyId> id, std::string const& user) {
  auto const* const nightly = id ? find(references_.nightlies, *id) : nullptr;
  if (nightly != nullptr) add(name_of(*nightly, references_.builds), user);
}

/// Adds the commit's builds by any recipe, and those of its nightlies.
void UserCollector::add(CommitSha const& commit, std::string const& user) {
  if (commit.hex.empty()) return;
  for (auto const& build : builds_)
    if (build.name.starts_with(commit.hex + "-")) add(build.name, user);
  for (auto const& nightly : references_.nightlies)
    if (nightly.commit == commit) add(nightly.id, user);
}

void UserCollector::add_nightlies() {
  for (auto const& nightly : references_.nightlies) {
    if (is_judged_to_the_end(nightly)) continue;
    add(nightly.id, "nightly " + nightly.date);
    add(nightly.commit, "nightly " + nightly.date);
    add(nightly.baseline, "baseline of nightly " + nightly.date);
    add_baseline_of_edition(nightly);
  }
  for (auto const baseline : references_.baselines)
    add(baseline, "baseline of series of a nightly");
  if (auto const baseline = bisect::baseline_of(next_nightly(), references_.nightlies)) {
    add(baseline->id, "baseline of the next nightly");
    add_baselines_of_series(*baseline);
  }
}

/// Adds the baseline that an edition will have: it chooses its baseline only when it is downloaded.
/// Later nightlies proceed until then.
void UserCollector::add_baseline_of_edition(Nightly const& nightly) {
  if (nightly.baseline || !bisect::is_edition(nightly, references_.nightlies)) return;
  auto const baseline = bisect::baseline_of(nightly, references_.nightlies);
  if (baseline) add(baseline->id, "baseline of nightly " + nightly.date);
}

/// Adds the baselines of the series that `usual`, the next nightly's baseline, did not judge.
void UserCollector::add_baselines_of_series(Nightly const& usual) {
  auto const baselines =
      bisect::series_baselines(next_nightly(), usual, references_.nightlies, references_.series);
  std::map<NightlyId, int> series;
  for (auto const& [one, baseline] : baselines.older)
    ++series[baseline];
  for (auto const& [baseline, count] : series)
    add(baseline, fmt::format("baseline of {} series of the next nightly", count));
}

/// Verdicts chooses the oldest candidate that is on the disk.
void UserCollector::add_anchors() {
  std::map<std::string, int> anchored;
  for (auto const& history : references_.benchmarks) {
    for (auto const& candidate :
         bisect::anchor_candidates(next_nightly(), references_.nightlies, history)) {
      auto const name = name_of(candidate, references_.builds);
      if (!is_kept(name)) continue;
      ++anchored[name];
      break;
    }
  }
  for (auto const& [name, benchmarks] : anchored)
    add(name, fmt::format("anchor of {} benchmark{}", benchmarks, benchmarks == 1 ? "" : "s"));
}

void UserCollector::add_incidents() {
  for (auto const& incident : references_.incidents)
    for (auto const end : {incident.baseline, incident.nightly})
      add(end, fmt::format("incident {}", incident.id.value));
  for (auto const& incident : references_.unfinished)
    for (auto const& change : incident.changes)
      add(baseline_of(incident, change.series), fmt::format("incident {}", incident.id.value));
}

void UserCollector::add_between(BisectionRequest const& request, std::string const& user) {
  auto const dates_of = [&](CommitSha const& commit) {
    std::vector<std::string> dates;
    for (auto const& nightly : references_.nightlies)
      if (nightly.commit == commit) dates.push_back(nightly.date);
    return dates;
  };
  auto const starts = dates_of(request.start);
  auto const ends = dates_of(request.end);
  if (starts.empty() || ends.empty()) return;
  for (auto const& nightly : references_.nightlies)
    if (nightly.date >= starts.front() && nightly.date <= ends.back()) add(nightly.id, user);
}

void UserCollector::add_bisections() {
  for (auto const& bisection : references_.bisections) {
    auto const user = fmt::format("bisection {}", bisection.id.value);
    add(bisection.request.start, user);
    add(bisection.request.end, user);
    add_between(bisection.request, user);
    for (auto const& step : bisection.steps)
      for (auto const& commit : step.commits)
        add(commit, user);
  }
}

void UserCollector::add_builds() {
  for (auto const& [name, companions] : references_.companions)
    for (auto const& companion : companions)
      if (is_kept(name)) add(companion, name);
}

void UserCollector::add_people() {
  for (auto const& build : builds_)
    if (build.pin) add(build.name, build.pin->who + ": " + build.pin->why);
}

}  // namespace

BuildUsers users_of(std::vector<KeptBuild> const& builds, BuildReferences const& references) {
  UserCollector collector{builds, references};
  collector.add_nightlies();
  collector.add_anchors();
  collector.add_incidents();
  collector.add_bisections();
  collector.add_builds();
  collector.add_people();
  return collector.take();
}

std::string name_in(fs::path const& builds, fs::path const& prefix) {
  auto const inside = prefix.lexically_normal().lexically_relative(builds.lexically_normal());
  if (inside.empty() || *inside.begin() == ".." || *inside.begin() == ".") return {};
  return *inside.begin();
}

}  // namespace torchwatch::builds
