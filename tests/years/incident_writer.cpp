#include "tests/years/incident_writer.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "github/issue.h"
#include "tests/years/keep_build.h"
#include "tests/years/night_writer.h"

namespace torchwatch::years {
namespace {

using namespace std::chrono_literals;

constexpr auto until_confirmed = 6h;
constexpr auto until_reported = 11h;

/// Newest incidents of which operators were profiled.
constexpr std::size_t nights_profiled = 120;

bool has_culprit(Ending ending) {
  using enum Ending;
  return ending == running || ending == paused || ending == culprit || ending == two_culprits ||
         ending == accepted || ending == range || ending == undecided || ending == cancelled;
}

/// Where a bisection is to stop.
Patience patience_of(Ending ending) {
  constexpr int few_readings = 9;
  switch (ending) {
    case Ending::running:
      return {3};
    case Ending::paused:
      return {2};
    case Ending::cancelled:
      return {1};
    case Ending::undecided:
      return {1000, few_readings};
    default:
      return {};
  }
}

BisectionState state_of(Ending ending) {
  if (ending == Ending::running) return BisectionState::running;
  if (ending == Ending::paused) return BisectionState::paused;
  if (ending == Ending::cancelled) return BisectionState::cancelled;
  return BisectionState::done;
}

/// Commits that do not build: around the culprit where a range is to come, and elsewhere one or the
/// other, but for those that a proof needs.
std::set<std::size_t> broken_commits(Truth const& truth, Ending ending, Chance& chance) {
  std::set<std::size_t> broken;
  std::set<std::size_t> needed{0, truth.commits.size()};
  for (auto const& cause : truth.causes) {
    auto const culprit = truth.position_of(cause);
    for (auto at = culprit - std::min<std::size_t>(culprit, 2); at < culprit + 3; ++at)
      (ending == Ending::range ? broken : needed).insert(at);
  }
  for (std::size_t at = 1; at < truth.commits.size(); ++at)
    if (chance.happens(0.08)) broken.insert(at);
  for (auto const at : needed)
    broken.erase(at);
  return broken;
}

struct Share {
  std::string_view op;
  double time;
  double calls;
};

/// Where the time of an iteration usually goes.
constexpr std::array shares{Share{"aten::addmm", 0.31, 24},
                            Share{"aten::convolution", 0.24, 53},
                            Share{"aten::native_batch_norm", 0.11, 53},
                            Share{"aten::bmm", 0.08, 24},
                            Share{"aten::native_layer_norm", 0.06, 25},
                            Share{"aten::_softmax", 0.05, 12},
                            Share{"aten::add_.Tensor", 0.05, 190},
                            Share{"aten::copy_", 0.04, 88},
                            Share{"aten::relu_", 0.03, 49},
                            Share{"aten::mul.Tensor", 0.02, 37},
                            Share{"aten::empty.memory_format", 0.01, 214}};

/// `extra`: milliseconds that the blunder's operator costs more.
std::vector<OperatorCost> costs_of(double ms, std::string_view op, double extra) {
  std::vector<OperatorCost> costs;
  for (auto const& share : shares)
    costs.push_back({std::string{share.op}, share.calls, share.time * ms, 4096 * share.calls});
  auto const found =
      std::ranges::find_if(costs, [&](OperatorCost const& cost) { return cost.name == op; });
  if (found != costs.end())
    found->ms += extra;
  else
    costs.push_back({std::string{op}, 12, 0.02 * ms + extra, 65536});
  return costs;
}

}  // namespace

/// One that nobody planned is one that there was not.
PlannedIncident IncidentWriter::planned_of(std::size_t night) const {
  auto const& all = history_.plan.incidents;
  auto const found = std::ranges::find(all, night, &PlannedIncident::night);
  return found == all.end() ? PlannedIncident{night, Ending::not_reproduced, {}} : *found;
}

void IncidentWriter::write(std::size_t night) {
  auto const baseline = history_.nights[night].baseline.value();
  auto const at = history_.nights[night].announced_at + until_confirmed;
  auto const incident = store_.incidents().open(id_of(baseline), id_of(night), at);
  auto const planned = planned_of(night);
  bisect(incident, planned);
  if (night + nights_profiled > history_.nights.size()) profile(incident, planned);
  report(incident);
  rule(incident, planned.ending);
}

RecipeId IncidentWriter::recipe_of(std::size_t night) {
  bool const is_old = night + 200 < history_.nights.size();
  auto const contents = fmt::format(
      "recipe 7c1f0e2b9a4d5c6e8f00112233445566778899aa\ncmake 3.31.6\ngcc {}\nninja 1.12.1\n",
      is_old ? "11.4.0" : "12.2.0");
  return store_.recipes().with(RecipeKind::program, contents).id;
}

Truth IncidentWriter::truth_of(PlannedIncident const& planned, Chance& chance) const {
  auto const baseline = history_.nights[planned.night].baseline.value();
  Truth truth{baseline, history_.trunk.between(baseline, planned.night), {}};
  truth.is_layout = planned.ending == Ending::layout;
  if (has_culprit(planned.ending) || truth.is_layout) truth.causes = planned.causes;
  for (auto const& cause : truth.causes) {
    auto& culprit = truth.commits[truth.position_of(cause) - 1];
    culprit = history_.trunk.blundered(std::move(culprit), blunders.at(cause.blunder));
  }
  truth.unbuildable = broken_commits(truth, planned.ending, chance);
  return truth;
}

void IncidentWriter::bisect(Incident const& incident, PlannedIncident const& planned) {
  Chance chance{history_.request.seed, "bisection", planned.night};
  auto const truth = truth_of(planned, chance);
  BisectionRequest request{
      history_.trunk.head(truth.night), history_.trunk.head(planned.night), {}};
  for (auto const& change : incident.changes)
    request.series.push_back(change.series);
  auto bisection = store_.bisections().ask(request, incident.id, incident.opened_at);
  bisection.recipe = recipe_of(planned.night);
  store_.bisections().begin_with(bisection.id, bisection.recipe, {});
  store_.bisections().keep_commits(bisection.id, truth.commits);
  if (planned.ending == Ending::failed) {
    bisection.state = BisectionState::failed;
    bisection.failure =
        history_.texts.of("end " + request.end.hex + " cannot be built: exit status 125", chance);
    store_.bisections().update(bisection);
    return;
  }
  Processes const processes{history_.plan.suite, history_.hosts, planned.night};
  auto done = carry_out(std::move(bisection),
                        truth,
                        patience_of(planned.ending),
                        {processes, history_.texts, incident.opened_at + 1h, chance});
  done.bisection.state = state_of(planned.ending);
  if (planned.ending == Ending::environment) blame_packages(done.bisection, incident);
  store_bisection(std::move(done));
}

void IncidentWriter::blame_packages(Bisection& bisection, Incident const& incident) const {
  bisection.outcome = BisectionOutcome::environment;
  bisection.packages = Packages{{"- build.json: {\"env\":{\"MKL_CBWR\":\"AUTO\"}}",
                                 "- libgomp.so.1 3b1f2c9d",
                                 "+ libgomp.so.1 90aa4e17",
                                 "- gcc 11.4.0",
                                 "+ gcc 13.3.0"},
                                incident.changes};
}

/// Of searches that ended long ago only the proofs are still there.
void IncidentWriter::store_bisection(CarriedOut done) {
  auto const& bisection = done.bisection;
  store_.bisections().plan(bisection.id, bisection.steps);
  store_.bisections().update(bisection);
  Chance chance{history_.request.seed, "builds", static_cast<std::uint64_t>(bisection.id.value)};
  bool const goes_on =
      bisection.state == BisectionState::running || bisection.state == BisectionState::paused;
  for (auto& build : done.builds) {
    auto const name = build.prefix;
    if (!name.empty()) build.prefix = state_dir_ / "builds" / name;
    store_.builds().record(build);
    if (goes_on && !name.empty()) keep_build(store_, state_dir_, name, build.finished_at, chance);
  }
  auto const first_raw = std::ranges::find(history_.are_raw, true) - history_.are_raw.begin();
  auto const since = history_.nights[static_cast<std::size_t>(first_raw)].announced_at;
  if (bisection.asked_at < since)
    std::erase_if(done.outcomes, [](JobOutcome const& outcome) {
      return !subject_of(outcome.key.campaign).is_proof;
    });
  store_.jobs().record(done.outcomes);
}

/// Which operator pays for what moved `series`.
std::string_view IncidentWriter::operator_of(PlannedIncident const& planned,
                                             Series const& series) const {
  for (auto const& cause : planned.causes)
    for (auto const& moved : cause.moved)
      if (history_.plan.suite.series[moved.series].series == series)
        return blunders.at(cause.blunder).op;
  return blunders.front().op;
}

/// The benchmark of the first change, on both builds.
void IncidentWriter::profile(Incident const& incident, PlannedIncident const& planned) {
  if (planned.causes.empty()) return;
  auto const& change = incident.changes.front();
  auto const& suite = history_.plan.suite;
  auto const benchmark = std::ranges::find_if(suite.benchmarks, [&](Measured const& one) {
    return one.which == FleetBenchmark{change.series.fleet, change.series.benchmark};
  });
  auto const campaign = Campaign::profile(incident.id);
  auto const baseline = history_.nights[planned.night].baseline.value();
  Chance chance{history_.request.seed, "profile", planned.night};
  Processes const processes{suite, history_.hosts, planned.night};
  auto outcomes = processes.round(
      *benchmark,
      {build_of(history_, campaign, baseline), build_of(history_, campaign, planned.night)},
      0,
      {incident.opened_at + 4h},
      chance);
  double const before = outcomes.front().values.at(Metric::latency).value;
  double const extra = outcomes.back().values.at(Metric::latency).value - before;
  auto const op = operator_of(planned, change.series);
  outcomes.front().profile = costs_of(before, op, 0);
  outcomes.back().profile = costs_of(before, op, extra);
  store_.jobs().record(outcomes);
}

void IncidentWriter::report(Incident const& incident) {
  IncidentStory story;
  story.incident = incident;
  story.baseline = store_.nightlies().find(incident.baseline).value();
  story.nightly = store_.nightlies().find(incident.nightly).value();
  store_.incidents().intend_report(incident.id, github::key_of(story));
  store_.incidents().reported(incident.id,
                              fmt::format("https://github.com/example/torchwatch-reports/issues/{}",
                                          40 + 3 * incident.id.value),
                              store_.bisections().of_incident_in_brief(incident.id));
}

void IncidentWriter::rule(Incident const& incident, Ending ending) {
  if (ending != Ending::accepted && ending != Ending::not_reproduced) return;
  Chance chance{history_.request.seed, "ruling", static_cast<std::uint64_t>(incident.id.value)};
  bool const is_accepted = ending == Ending::accepted;
  Ruling ruling;
  ruling.kind = is_accepted ? RulingKind::accept : RulingKind::false_alarm;
  ruling.incident = incident.id;
  ruling.who = history_.texts.of(is_accepted ? "mlzhou" : "rohitnair", chance);
  ruling.why = history_.texts.of(
      is_accepted ? "the check prevents wrong results; the price was discussed in the pull request"
                  : "a backup ran on the host that night, and the next night is as before",
      chance);
  ruling.given_at = incident.opened_at + std::chrono::hours{chance.from_to(20, 70)};
  rulings_.push_back(std::move(ruling));
}

void IncidentWriter::mute_series() {
  for (auto const& mute : history_.plan.mutes) {
    Chance chance{history_.request.seed, "mute", mute.series};
    auto const& series = history_.plan.suite.series[mute.series].series;
    auto const last = std::min(mute.until, history_.nights.size() - 1);
    Ruling ruling;
    ruling.kind = RulingKind::mute;
    ruling.series = {series.fleet, series.benchmark, series.metric};
    ruling.who = history_.texts.of("praman", chance);
    ruling.why = history_.texts.of("it is rewritten this month; nobody has to hear of it", chance);
    ruling.given_at = history_.nights[mute.from].announced_at - 3h;
    ruling.until = history_.nights[last].announced_at - 1h;
    rulings_.push_back(ruling);
    if (mute.until < last) continue;
    ruling.kind = RulingKind::unmute;
    ruling.until.reset();
    ruling.why = history_.texts.of("rewritten", chance);
    ruling.given_at = history_.nights[last].announced_at - 2h;
    rulings_.push_back(std::move(ruling));
  }
}

/// What drifted until somebody said that it was worth it.
void IncidentWriter::accept_drifts() {
  for (auto const& one : history_.plan.suite.series)
    for (auto const& drift : one.drifts) {
      auto const last = drift.from + drift.nights + 3;
      if (last >= history_.nights.size()) continue;
      Chance chance{history_.request.seed, "drift", drift.from};
      Ruling ruling;
      ruling.series = {one.series.fleet, one.series.benchmark, one.series.metric};
      ruling.who = history_.texts.of("olua", chance);
      ruling.why = history_.texts.of("checks that we want, one by one", chance);
      ruling.given_at = history_.nights[last].announced_at + 8h;
      rulings_.push_back(std::move(ruling));
    }
}

/// Over the last week, of a series that drifts.
void IncidentWriter::ask_as_person() {
  constexpr std::size_t nights = 8;
  auto const last = history_.nights.back().baseline.value();
  auto first = last - std::min(last, nights);
  while (history_.nights[first].state != NightlyState::done)
    ++first;
  auto const& all = history_.plan.suite.series;
  auto const drifting =
      std::ranges::find_if(all, [](TrueSeries const& one) { return !one.drifts.empty(); });
  auto const& series = drifting == all.end() ? all.front() : *drifting;
  BisectionRequest request{history_.trunk.head(first), history_.trunk.head(last), {series.series}};
  request.threshold = 0.02;
  request.prior = Prior::paths;
  store_.bisections().ask(request, std::nullopt, history_.nights.back().announced_at + 90min);
}

void IncidentWriter::finish() {
  mute_series();
  accept_drifts();
  std::ranges::stable_sort(rulings_, {}, &Ruling::given_at);
  for (auto const& ruling : rulings_)
    store_.rulings().give(ruling);
  ask_as_person();
  keep_builds(history_, store_, state_dir_);
}

}  // namespace torchwatch::years
