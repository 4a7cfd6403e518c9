#include "daemon/api/bisection_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>

#include "daemon/api/body.h"

namespace torchwatch::api {
namespace {

using net::FieldError;
using nlohmann::json;

constexpr std::array known_fields{
    "start", "end", "benchmarks", "fleet", "metric", "threshold", "direction"};
constexpr std::size_t most_benchmarks = 256;
constexpr double highest_threshold = 1;

class Reader {
 public:
  Reader(std::string const& text, std::span<config::FleetOptions const> fleets)
      : body_{text, known_fields},
        fleets_{fleets} {}

  BisectionRequest read();

  std::vector<FieldError> const& errors() const { return body_.errors(); }

 private:
  CommitSha commit(char const* name);
  config::FleetOptions const* fleet();
  std::vector<Series> series();
  std::optional<Benchmark> benchmark(json const& value, std::string const& field);
  double threshold();

  Body body_;
  std::span<config::FleetOptions const> fleets_;
};

CommitSha Reader::commit(char const* name) {
  constexpr auto allowed = ", allowed the 40 lower-case hexadecimal digits of a commit";
  auto const* value = body_.field(name);
  if (value == nullptr) {
    body_.refuse(name, std::string{"found nothing"} + allowed);
  } else if (!value->is_string() || !is_commit_sha(value->get_ref<std::string const&>())) {
    body_.refuse(name, found(*value) + allowed);
  } else {
    return CommitSha{value->get<std::string>()};
  }
  return {};
}

config::FleetOptions const* Reader::fleet() {
  auto const* value = body_.field("fleet");
  if (value == nullptr && fleets_.size() == 1) return &fleets_.front();
  std::string allowed;
  for (auto const& fleet : fleets_) {
    if (value != nullptr && *value == json(fleet.name)) return &fleet;
    allowed += (allowed.empty() ? "" : ", ") + in_quotes(fleet.name);
  }
  body_.refuse("fleet",
               (value == nullptr ? "found nothing" : found(*value)) + ", allowed " + allowed);
  return nullptr;
}

double Reader::threshold() {
  BisectionRequest const defaults;
  auto const* value = body_.field("threshold");
  if (value == nullptr) return defaults.threshold;
  bool const is_possible =
      value->is_number() && value->get<double>() > 0 && value->get<double>() <= highest_threshold;
  if (is_possible) return value->get<double>();
  body_.refuse(
      "threshold",
      found(*value) +
          ", allowed a number above 0 and up to 1: a fraction, so that 0.07 is 7% (TorchBench "
          "writes percent)");
  return defaults.threshold;
}

std::optional<Benchmark> Reader::benchmark(json const& value, std::string const& field) {
  auto const parsed = value.is_string() ? parse_benchmark(value.get_ref<std::string const&>())
                                        : std::optional<Benchmark>{};
  if (!parsed)
    body_.refuse(field, found(value) + R"(, allowed a name like "test_train[dlrm-cpu-eager]")");
  return parsed;
}

std::vector<Series> Reader::series() {
  auto const* const on = fleet();
  auto const of = body_.word("metric", parse_metric, R"("latency", "cmem", "gmem", "leak")")
                      .value_or(Metric::latency);
  auto const* const names = body_.field("benchmarks");
  std::vector<Series> all;
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
    if (on != nullptr && named->device != on->device)
      body_.refuse(field,
                   found(names->at(at)) + ", allowed benchmarks of fleet " + in_quotes(on->name) +
                       ", whose device is " + std::string{to_string(on->device)});
    if (of == Metric::gmem && named->device != Device::cuda)
      body_.refuse("metric",
                   R"(found "gmem", which )" + in_quotes(name_of(*named)) + " does not have");
    if (on != nullptr) all.push_back(Series{on->name, *named, of});
  }
  return all;
}

BisectionRequest Reader::read() {
  BisectionRequest request;
  if (!body_.is_object()) return request;
  request.start = commit("start");
  request.end = commit("end");
  if (!request.start.hex.empty() && request.start == request.end)
    body_.refuse("end", "found the same commit as start, allowed a later one");
  request.series = series();
  request.threshold = threshold();
  request.direction = body_.word("direction", parse_direction, R"("increase", "decrease", "both")")
                          .value_or(Direction::increase);
  return request;
}

}  // namespace

boost::system::result<BisectionRequest, std::vector<FieldError>> parse_bisection_request(
    std::string const& body, std::span<config::FleetOptions const> fleets) {
  Reader reader{body, fleets};
  auto request = reader.read();
  if (!reader.errors().empty()) return reader.errors();
  return request;
}

}  // namespace torchwatch::api
