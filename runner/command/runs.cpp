#include "runner/command/runs.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "runner/command/text.h"

namespace torchwatch::command {
namespace {

using nlohmann::json;

/// The error of an object that is not a run.
class BadRun : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Bencher's format has three levels. More than this are not read, because destroying nested values
/// uses stack at each level.
constexpr int deepest = 8;

json parse_object(std::string_view text) {
  auto const watch = [](int depth, json::parse_event_t, json const&) {
    if (depth >= deepest)
      throw BadRun("nested deeper than " + std::to_string(deepest) + " levels: allowed are 3");
    return true;
  };
  return json::parse(text.begin(), text.end(), watch);
}

std::string why_not_json(std::string_view text) {
  bool const has_special =
      text.find("NaN") != std::string_view::npos || text.find("Infinity") != std::string_view::npos;
  return "found \"" + shortened(text) + "\", which is not JSON; " +
         (has_special ? "JSON has no NaN and no Infinity"
                      : R"(allowed is one object a line, such as {"latency": 12.5})");
}

bool has(std::vector<std::string> const& names, std::string const& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Ratios of noisy values need positive ones. Exact ones can be counts.
bool may_be(double number, std::string const& metric, Wanted const& wanted) {
  return metric == "leak" || number > 0 || (number == 0 && has(wanted.exact, metric));
}

double number_in(std::string const& metric, json const& value, Wanted const& wanted) {
  if (!value.is_number())
    throw BadRun("metric " + metric + " is " + shortened(value.dump()) + ", of type " +
                 value.type_name() + "; allowed is a number");
  auto const number = value.get<double>();
  if (!std::isfinite(number))
    throw BadRun("metric " + metric + " is not finite; allowed is a finite number");
  if (!may_be(number, metric, wanted))
    throw BadRun("metric " + metric + " is " + value.dump() + "; allowed is " +
                 (has(wanted.exact, metric) ? "0 or more" : "more than 0"));
  return number;
}

Run read_plain(json const& object, Wanted const& wanted) {
  Run run;
  for (auto const& item : object.items()) {
    if (!has(wanted.allowed, item.key()))
      throw BadRun("metric \"" + shortened(item.key()) + "\" is not declared; declared are " +
                   joined(wanted.allowed) + ". Print other output to standard error");
    run[item.key()] = number_in(item.key(), item.value(), wanted);
  }
  return run;
}

/// Returns the measures of the benchmark to read: the one that is named like the job's benchmark or
/// model, or the only one.
json const& chosen_in(json const& benchmarks, Wanted const& wanted) {
  for (auto const& name : {wanted.benchmark, wanted.model})
    if (auto const found = benchmarks.find(name); found != benchmarks.end()) return *found;
  if (benchmarks.size() == 1) return benchmarks.front();
  throw BadRun("found " + std::to_string(benchmarks.size()) +
               " benchmarks in Bencher's format; allowed is one, or one with the name \"" +
               wanted.model + "\"");
}

Run read_bencher(json const& benchmarks, Wanted const& wanted) {
  Run run;
  for (auto const& item : chosen_in(benchmarks, wanted).items()) {
    if (!has(wanted.allowed, item.key())) continue;
    auto const& measure = item.value();
    if (!measure.is_object() || !measure.contains("value"))
      throw BadRun("metric " + item.key() + " has no value; allowed is {\"value\": NUMBER}");
    run[item.key()] = number_in(item.key(), measure["value"], wanted);
  }
  return run;
}

/// True when all members are objects, as in Bencher's format. A plain run has only numbers.
bool is_bencher(json const& object) {
  return !object.empty() && std::all_of(object.begin(), object.end(), [](json const& member) {
    return member.is_object();
  });
}

Run read_run(std::string_view text, Wanted const& wanted) {
  auto const object = parse_object(text);
  return is_bencher(object) ? read_bencher(object, wanted) : read_plain(object, wanted);
}

/// True when the whole output is one object that takes more than one line.
bool is_one_object(std::string_view text) {
  auto const whole = trimmed(text);
  return whole.starts_with('{') && whole.find('\n') != std::string_view::npos &&
         json::accept(whole.begin(), whole.end());
}

}  // namespace

Result<std::optional<Run>> parse_line(std::string_view line, Wanted const& wanted) {
  auto const text = trimmed(line);
  if (!text.starts_with('{')) return std::optional<Run>{};
  try {
    return std::optional<Run>{read_run(text, wanted)};
  } catch (json::exception const&) {
    return Error{ErrorCode::corrupt, why_not_json(text)};
  } catch (BadRun const& problem) {
    return Error{ErrorCode::corrupt, problem.what()};
  }
}

Result<Output> parse_output(std::string_view text, Wanted const& wanted) {
  auto const lines = is_one_object(text) ? std::vector{text} : lines_of(text);
  Output output;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    auto run = parse_line(lines[i], wanted);
    if (!run) return within("line " + std::to_string(i + 1), run.error());
    if (*run)
      output.runs.push_back(std::move(**run));
    else
      (output.log += lines[i]) += '\n';
  }
  return output;
}

Result<> check_complete(std::vector<Run> const& runs, Wanted const& wanted) {
  for (auto const& metric : wanted.required)
    if (std::ranges::none_of(runs, [&](Run const& run) { return run.contains(metric); }))
      return Error{ErrorCode::corrupt, "metric " + metric + " is missing"};
  return {};
}

}  // namespace torchwatch::command
