#include "daemon/api/bisection_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "daemon/api/body.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

using http::FieldError;

constexpr std::array bisection_fields{"start",
                                      "end",
                                      "benchmarks",
                                      "fleet",
                                      "metric",
                                      "threshold",
                                      "direction",
                                      "prior",
                                      "again",
                                      "incident"};
constexpr std::size_t most_benchmarks = 256;
constexpr double highest_threshold = 1;

/// A benchmark, and the field of the request that names it.
struct Named {
  Benchmark benchmark;
  std::string field;  ///< "benchmarks[2]"
};

class BisectionReader {
 public:
  BisectionReader(std::string const& text,
                  std::span<config::FleetOptions const> fleets,
                  storage::Store& store,
                  Prior prior,
                  double threshold)
      : body_{text, bisection_fields},
        fleets_{fleets},
        store_{store},
        threshold_{threshold} {
    base_.series.resize(1);
    base_.prior = prior;
  }

  BisectionOrder read();

  std::vector<FieldError> const& errors() const { return body_.errors(); }

 private:
  void base_on(Bisection const& bisection);
  void base_on(Incident const& incident);
  void read_again(nlohmann::json const& id);
  void read_incident(nlohmann::json const& id);
  std::optional<Nightly> nightly(nlohmann::json const& value);
  CommitSha commit(char const* name, CommitSha const& otherwise);
  config::FleetOptions const* fleet();
  std::string fleet_names() const;
  std::optional<Benchmark> benchmark(nlohmann::json const& value, std::string const& field);
  std::optional<std::vector<Named>> benchmarks();
  std::vector<Series> series();
  double threshold();
  void check(Series const& series, std::string const& field);
  void refuse_first(std::string const& field, std::string detail);

  Body body_;
  std::span<config::FleetOptions const> fleets_;
  storage::Store& store_;
  double threshold_;                    ///< for incidents without a bisection
  BisectionRequest base_;               ///< default values; `series` are the series to adapt
  std::optional<IncidentId> incident_;  ///< the incident that base_ belongs to
  bool is_based_ = false;  ///< true with `again` or `incident`: all other fields are optional
};

/// Returns the record with `id`; nothing if `id` is not a number or no record has it.
template <class Id, class Table>
auto find_by(nlohmann::json const& id, Table table) -> decltype(table.find(Id{})) {
  if (!id.is_number_integer()) return std::nullopt;
  return table.find(Id{id.get<std::int64_t>()});
}

void BisectionReader::base_on(Bisection const& bisection) {
  base_ = bisection.request;
  incident_ = bisection.incident;
}

void BisectionReader::base_on(Incident const& incident) {
  incident_ = incident.id;
  base_.start = store_.nightlies().find(incident.baseline).value().commit;
  base_.end = store_.nightlies().find(incident.nightly).value().commit;
  base_.threshold = threshold_;
  base_.series.clear();
  for (auto const& change : incident.changes)
    base_.series.push_back(change.series);
}

void BisectionReader::read_again(nlohmann::json const& id) {
  is_based_ = true;
  base_ = {};
  if (auto const earlier = find_by<BisectionId>(id, store_.bisections()))
    base_on(*earlier);
  else
    body_.refuse("again", found(id) + ", allowed the id of a bisection (/api/v1/bisections)");
}

void BisectionReader::read_incident(nlohmann::json const& id) {
  if (is_based_) {
    body_.refuse("incident", "found together with \"again\", allowed only one of the two");
    return;
  }
  is_based_ = true;
  auto const incident = find_by<IncidentId>(id, store_.incidents());
  if (!incident) {
    body_.refuse("incident", found(id) + ", allowed the id of an incident (/api/v1/incidents)");
    return;
  }
  if (auto const searched = store_.bisections().of_incident_in_brief(incident->id);
      !searched.empty())
    base_on(searched.front());
  else
    base_on(*incident);
}

/// Returns the nightly with a date or an id.
std::optional<Nightly> BisectionReader::nightly(nlohmann::json const& value) {
  if (!value.is_string()) return find_by<NightlyId>(value, store_.nightlies());
  return store_.nightlies().of_date(value.get_ref<std::string const&>());
}

CommitSha BisectionReader::commit(char const* name, CommitSha const& otherwise) {
  constexpr auto allowed =
      ", allowed the 40 lower-case hexadecimal digits of a commit, or the date or id of a nightly "
      "(/api/v1/nightlies)";
  auto const* value = body_.field(name);
  if (value == nullptr) {
    if (is_based_) return otherwise;
    body_.refuse(name, std::string{"found nothing"} + allowed);
    return {};
  }
  if (value->is_string() && is_commit_sha(value->get_ref<std::string const&>()))
    return CommitSha{value->get<std::string>()};
  auto const named = nightly(*value);
  if (!named)
    body_.refuse(name, found(*value) + allowed);
  else if (named->commit.hex.empty())
    body_.refuse(name,
                 "found nightly " + named->date +
                     ", whose commit is not known yet, allowed a nightly with a commit; retry when "
                     "the service has downloaded it");
  return named ? named->commit : CommitSha{};
}

std::string BisectionReader::fleet_names() const {
  std::string names;
  for (auto const& fleet : fleets_)
    names += (names.empty() ? "" : ", ") + in_quotes(fleet.name);
  return names;
}

/// Returns the fleet that is named, or else the only one; null if the series have fleets.
config::FleetOptions const* BisectionReader::fleet() {
  auto const* value = body_.field("fleet");
  if (value == nullptr && is_based_) return nullptr;
  if (value == nullptr && fleets_.size() == 1) return &fleets_.front();
  for (auto const& fleet : fleets_)
    if (value != nullptr && *value == nlohmann::json(fleet.name)) return &fleet;
  body_.refuse("fleet",
               (value == nullptr ? "found nothing" : found(*value)) + ", allowed " + fleet_names());
  return nullptr;
}

double BisectionReader::threshold() {
  auto const* value = body_.field("threshold");
  if (value == nullptr) return base_.threshold;
  bool const is_possible =
      value->is_number() && value->get<double>() > 0 && value->get<double>() <= highest_threshold;
  if (is_possible) return value->get<double>();
  body_.refuse(
      "threshold",
      found(*value) +
          ", allowed a number above 0 and up to 1: a fraction, so that 0.07 is 7% (TorchBench "
          "writes percent)");
  return base_.threshold;
}

std::optional<Benchmark> BisectionReader::benchmark(nlohmann::json const& value,
                                                    std::string const& field) {
  auto const parsed = value.is_string() ? parse_benchmark(value.get_ref<std::string const&>())
                                        : std::optional<Benchmark>{};
  if (!parsed)
    body_.refuse(field, found(value) + R"(, allowed a name like "test_train[dlrm-cpu-eager]")");
  return parsed;
}

/// Returns the benchmarks that are named; nothing if the series have benchmarks.
std::optional<std::vector<Named>> BisectionReader::benchmarks() {
  auto const* const names = body_.field("benchmarks");
  if (names == nullptr && is_based_) return std::nullopt;
  std::vector<Named> all;
  if (names == nullptr || !names->is_array() || names->empty() || names->size() > most_benchmarks) {
    body_.refuse("benchmarks",
                 (names == nullptr ? "found nothing" : found(*names)) +
                     ", allowed an array of 1 to 256 names");
    return all;
  }
  std::set<Benchmark> seen;
  for (std::size_t at = 0; at < names->size(); ++at) {
    auto const field = "benchmarks[" + std::to_string(at) + "]";
    auto const named = benchmark(names->at(at), field);
    if (!named) continue;
    if (!seen.insert(*named).second)
      body_.refuse(field, found(names->at(at)) + " twice, allowed once");
    all.push_back({*named, field});
  }
  return all;
}

/// Adds an error unless the field already has one, so that several series cause only one.
void BisectionReader::refuse_first(std::string const& field, std::string detail) {
  auto const is_same = [&](FieldError const& error) {
    return error.field == field;
  };
  if (std::ranges::none_of(errors(), is_same)) body_.refuse(field, std::move(detail));
}

/// Checks that the fleet of a series can measure it. Errors in the benchmark name `field`.
void BisectionReader::check(Series const& series, std::string const& field) {
  auto const benchmark = in_quotes(name_of(series.benchmark));
  if (series.metric == Metric::gmem && series.benchmark.device != Device::cuda)
    refuse_first("metric",
                 R"(found "gmem", which )" + benchmark +
                     R"( does not have, allowed a metric of a CPU, such as "latency")");
  if (series.fleet.empty()) return;  // fleet() has added an error
  auto const fleet = std::ranges::find(fleets_, series.fleet, &config::FleetOptions::name);
  if (fleet == fleets_.end())
    refuse_first("fleet", "found " + in_quotes(series.fleet) + ", allowed " + fleet_names());
  else if (fleet->device != series.benchmark.device)
    refuse_first(field,
                 "found " + benchmark + ", allowed benchmarks of fleet " + in_quotes(fleet->name) +
                     ", whose device is " + std::string{to_string(fleet->device)});
}

std::vector<Series> BisectionReader::series() {
  auto const* const on = fleet();
  auto const of = body_.word("metric", parse_metric, words::metric_names());
  auto const given = benchmarks();
  std::vector<Series> all;
  std::set<Series> seen;
  for (auto series : base_.series) {
    if (on != nullptr) series.fleet = on->name;
    if (of) series.metric = *of;
    auto const named = given ? *given : std::vector{Named{series.benchmark, "benchmarks"}};
    for (auto const& [benchmark, field] : named) {
      series.benchmark = benchmark;
      if (!seen.insert(series).second) continue;
      check(series, field);
      all.push_back(series);
    }
  }
  return all;
}

BisectionOrder BisectionReader::read() {
  BisectionOrder order;
  auto& request = order.request;
  if (!body_.is_object()) return order;
  if (auto const* const id = body_.field("again")) read_again(*id);
  if (auto const* const id = body_.field("incident")) read_incident(*id);
  request.start = commit("start", base_.start);
  request.end = commit("end", base_.end);
  if (!request.start.hex.empty() && request.start == request.end)
    body_.refuse("end", "found the same commit as start, allowed a later one");
  request.series = series();
  request.threshold = threshold();
  request.direction = body_.word("direction", parse_direction, R"("increase", "decrease", "both")")
                          .value_or(base_.direction);
  request.prior = body_.word("prior", parse_prior, R"("uniform", "paths")").value_or(base_.prior);
  bool const is_same =
      request.start == base_.start && request.end == base_.end && request.series == base_.series;
  if (is_same) order.incident = incident_;
  return order;
}

constexpr std::array steering_fields{"state"};

/// Parses the states that a user may request. Only the service sets the others.
std::optional<BisectionState> parse_wanted_state(std::string_view text) {
  using enum BisectionState;
  for (auto const state : {paused, queued, cancelled})
    if (text == to_string(state)) return state;
  return std::nullopt;
}

}  // namespace

boost::system::result<BisectionOrder, std::vector<FieldError>> parse_bisection_request(
    std::string const& body,
    std::span<config::FleetOptions const> fleets,
    storage::Store& store,
    Prior prior,
    double threshold) {
  BisectionReader reader{body, fleets, store, prior, threshold};
  auto order = reader.read();
  if (!reader.errors().empty()) return reader.errors();
  return order;
}

boost::system::result<BisectionState, std::vector<FieldError>> parse_steering_request(
    std::string const& text) {
  constexpr auto states = R"("paused", "queued", "cancelled")";
  Body body{text, steering_fields};
  auto const state = body.word("state", parse_wanted_state, states);
  if (body.is_object() && body.field("state") == nullptr)
    body.refuse("state", std::string{"found nothing, allowed "} + states);
  if (!body.errors().empty()) return body.errors();
  return *state;
}

}  // namespace torchwatch::api
