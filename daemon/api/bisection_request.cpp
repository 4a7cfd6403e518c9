#include "daemon/api/bisection_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

namespace torchwatch::api {
namespace {

using net::FieldError;
using nlohmann::json;

constexpr std::array known_fields{
    "start", "end", "benchmarks", "fleet", "metric", "threshold", "direction"};
constexpr std::size_t most_benchmarks = 256;
constexpr double highest_threshold = 1;
/// A request has two levels.
constexpr int deepest = 2;

std::string excerpt(std::string_view text) {
  constexpr std::size_t enough = 120;
  return text.size() <= enough ? std::string{text} : std::string{text.substr(0, enough)} + "...";
}

std::string in_quotes(std::string_view text) {
  return "\"" + excerpt(text) + "\"";
}

/// What was found, in a few words: what a client sent may be long and deep.
std::string found(json const& value) {
  if (value.is_object()) return "found an object";
  if (value.is_array()) return "found an array of " + std::to_string(value.size());
  if (value.is_string()) return "found " + in_quotes(value.get_ref<std::string const&>());
  return "found " + value.dump();
}

class Reader {
 public:
  explicit Reader(std::span<config::FleetOptions const> fleets) : fleets_{fleets} {}

  BisectionRequest read(std::string const& text);

  std::vector<FieldError> errors() && { return std::move(errors_); }

 private:
  /// False when there is no object to look at.
  bool parse(std::string const& text);
  void check_names();
  CommitSha commit(char const* name);
  config::FleetOptions const* fleet();
  Metric metric();
  std::vector<Series> series();
  std::optional<Benchmark> benchmark(json const& value, std::string const& field);
  double threshold();
  Direction direction();

  /// The value of a field; nothing when the request does not have it.
  json const* field(char const* name) const {
    auto const at = body_.find(name);
    return at == body_.end() ? nullptr : &*at;
  }

  /// The word that a field holds, as `meaning` has it; `fallback` when the field is missing or
  /// wrong.
  template <class Word>
  Word word(char const* name,
            std::optional<Word> (*meaning)(std::string_view),
            Word fallback,
            char const* allowed) {
    auto const* value = field(name);
    if (value == nullptr) return fallback;
    auto const known =
        value->is_string() ? meaning(value->get_ref<std::string const&>()) : std::optional<Word>{};
    if (!known) refuse(name, found(*value) + ", allowed " + allowed);
    return known.value_or(fallback);
  }

  void refuse(std::string field, std::string detail) {
    errors_.push_back(FieldError{std::move(field), std::move(detail)});
  }

  std::span<config::FleetOptions const> fleets_;
  json body_ = json::object();
  std::vector<FieldError> errors_;
};

bool Reader::parse(std::string const& text) {
  std::set<std::string> seen;
  auto const watch = [&](int depth, json::parse_event_t event, json& value) {
    if (event == json::parse_event_t::key && depth == 1) {
      auto const& name = value.get_ref<std::string const&>();
      if (!seen.insert(name).second) refuse(excerpt(name), "found twice, allowed once");
    }
    return depth <= deepest;
  };
  constexpr auto allowed = ", allowed a JSON object";
  try {
    body_ = json::parse(text, watch);
    if (!body_.is_object()) refuse("body", found(body_) + allowed);
    return body_.is_object();
  } catch (json::exception const& problem) {
    std::string_view const what = problem.what();
    refuse("body", "found no JSON: " + excerpt(what.substr(what.find(' ') + 1)) + allowed);
    return false;
  }
}

void Reader::check_names() {
  for (auto const& [name, value] : body_.items()) {
    if (std::find(known_fields.begin(), known_fields.end(), name) == known_fields.end()) {
      refuse(excerpt(name),
             found(value) +
                 ", allowed no field but start, end, benchmarks, fleet, metric, threshold, "
                 "direction");
    }
  }
}

CommitSha Reader::commit(char const* name) {
  constexpr auto allowed = ", allowed the 40 lower-case hexadecimal digits of a commit";
  auto const* value = field(name);
  if (value == nullptr) {
    refuse(name, std::string{"found nothing"} + allowed);
  } else if (!value->is_string() || !is_commit_sha(value->get_ref<std::string const&>())) {
    refuse(name, found(*value) + allowed);
  } else {
    return CommitSha{value->get<std::string>()};
  }
  return {};
}

config::FleetOptions const* Reader::fleet() {
  auto const* value = field("fleet");
  if (value == nullptr && fleets_.size() == 1) return &fleets_.front();
  std::string allowed;
  for (auto const& fleet : fleets_) {
    if (value != nullptr && *value == json(fleet.name)) return &fleet;
    allowed += (allowed.empty() ? "" : ", ") + in_quotes(fleet.name);
  }
  refuse("fleet", (value == nullptr ? "found nothing" : found(*value)) + ", allowed " + allowed);
  return nullptr;
}

Metric Reader::metric() {
  return word("metric", parse_metric, Metric::latency, R"("latency", "cmem", "gmem", "leak")");
}

Direction Reader::direction() {
  return word(
      "direction", parse_direction, Direction::increase, R"("increase", "decrease", "both")");
}

double Reader::threshold() {
  BisectionRequest const defaults;
  auto const* value = field("threshold");
  if (value == nullptr) return defaults.threshold;
  bool const is_possible =
      value->is_number() && value->get<double>() > 0 && value->get<double>() <= highest_threshold;
  if (is_possible) return value->get<double>();
  refuse("threshold",
         found(*value) +
             ", allowed a number above 0 and up to 1: a fraction, so that 0.07 is 7% (TorchBench "
             "writes percent)");
  return defaults.threshold;
}

std::optional<Benchmark> Reader::benchmark(json const& value, std::string const& field) {
  auto const parsed = value.is_string() ? parse_benchmark(value.get_ref<std::string const&>())
                                        : std::optional<Benchmark>{};
  if (!parsed)
    refuse(field, found(value) + R"(, allowed a name like "test_train[dlrm-cpu-eager]")");
  return parsed;
}

std::vector<Series> Reader::series() {
  auto const* const on = fleet();
  auto const of = metric();
  auto const* const names = field("benchmarks");
  std::vector<Series> all;
  if (names == nullptr || !names->is_array() || names->empty() || names->size() > most_benchmarks) {
    refuse("benchmarks",
           (names == nullptr ? "found nothing" : found(*names)) +
               ", allowed an array of 1 to 256 names");
    return all;
  }
  std::set<Benchmark> seen;
  for (std::size_t at = 0; at < names->size(); ++at) {
    auto const field = "benchmarks[" + std::to_string(at) + "]";
    auto const named = benchmark(names->at(at), field);
    if (!named) continue;
    if (!seen.insert(*named).second) refuse(field, found(names->at(at)) + " twice, allowed once");
    if (on != nullptr && named->device != on->device)
      refuse(field,
             found(names->at(at)) + ", allowed benchmarks of fleet " + in_quotes(on->name) +
                 ", whose device is " + std::string{to_string(on->device)});
    if (of == Metric::gmem && named->device != Device::cuda)
      refuse("metric", R"(found "gmem", which )" + in_quotes(name_of(*named)) + " does not have");
    if (on != nullptr) all.push_back(Series{on->name, *named, of});
  }
  return all;
}

BisectionRequest Reader::read(std::string const& text) {
  BisectionRequest request;
  if (!parse(text)) return request;
  check_names();
  request.start = commit("start");
  request.end = commit("end");
  if (!request.start.hex.empty() && request.start == request.end)
    refuse("end", "found the same commit as start, allowed a later one");
  request.series = series();
  request.threshold = threshold();
  request.direction = direction();
  return request;
}

}  // namespace

boost::system::result<BisectionRequest, std::vector<FieldError>> parse_bisection_request(
    std::string const& body, std::span<config::FleetOptions const> fleets) {
  Reader reader{fleets};
  auto request = reader.read(body);
  auto errors = std::move(reader).errors();
  if (!errors.empty()) return errors;
  return request;
}

}  // namespace torchwatch::api
