#include "runner/protocol.h"

#include <array>
#include <limits>
#include <type_traits>
#include <utility>

namespace torchwatch::protocol {

using nlohmann::json;

namespace {

/// True when `value` is a whole number that T can represent.
template <class T>
bool is_whole_number(json const& value) {
  using Limits = std::numeric_limits<T>;
  if (value.is_number_unsigned())
    return value.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max());
  return value.is_number_integer() && value.get<std::int64_t>() >= Limits::min() &&
         value.get<std::int64_t>() <= Limits::max();
}

/// Rejects 1.5, 1e300 and true for whole numbers. The JSON library would convert them.
template <class T>
void read_value(json const& value, T& field) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (!is_whole_number<T>(value))
      throw ProtocolError("found " + (value.is_number() ? value.dump() : value.type_name()) +
                          ", allowed is a whole number that fits");
  value.get_to(field);
}

template <class T>
void read_value(json const& value, std::vector<T>& field) {
  field.clear();
  for (auto const& element : value.get_ref<json::array_t const&>())
    read_value(element, field.emplace_back());
}

/// Reads a member of `object`. Keeps the field's value when there is no such member. Throws when it
/// has the wrong type.
template <class T>
void read_field(json const& object, char const* name, T& field) {
  auto const& members = object.get_ref<json::object_t const&>();
  if (auto const found = members.find(name); found != members.end())
    read_value(found->second, field);
}

}  // namespace

#define TORCHWATCH_READ_FIELD(field) read_field(object, #field, message.field);
#define TORCHWATCH_WRITE_FIELD(field) object[#field] = message.field;
/// Defines the conversions of a message with these fields from and to JSON.
#define TORCHWATCH_MESSAGE(Type, ...)                                              \
  inline void from_json(json const& object, Type& message) {                       \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(TORCHWATCH_READ_FIELD, __VA_ARGS__))  \
  }                                                                                \
  inline void to_json(json& object, Type const& message) {                         \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(TORCHWATCH_WRITE_FIELD, __VA_ARGS__)) \
  }

TORCHWATCH_MESSAGE(Hello, protocol, role, pytorch_version, git_hash, devices, fingerprint)
TORCHWATCH_MESSAGE(BuildRef, prefix, worker, launcher, env, preload)
TORCHWATCH_MESSAGE(Measure,
                   runs,
                   warmup,
                   min_run_ms,
                   threads,
                   leak_iterations,
                   seed,
                   scale,
                   precision,
                   tf32,
                   batch,
                   models,
                   profile,
                   pin)
TORCHWATCH_MESSAGE(Limits, timeout_s, memory_bytes)
TORCHWATCH_MESSAGE(Caches, variables, directory, fill, is_filling)

inline void from_json(json const& object, Job& message) {
  read_field(object, "id", message.id);
  read_field(object, "benchmark", message.benchmark);
  read_field(object, "build", message.build);
  read_field(object, "measure", message.measure);
  read_field(object, "limits", message.limits);
  read_field(object, "takes_turns", message.takes_turns);
  read_field(object, "metrics", message.metrics);
  read_field(object, "exact", message.exact);
  read_field(object, "command", message.command);
  read_field(object, "waits", message.waits);
  read_field(object, "readable", message.readable);
  read_field(object, "caches", message.caches);
}

/// Writes the fields of suites only if they are set, so that jobs of the native suite stay short.
inline void to_json(json& object, Job const& message) {
  object["id"] = message.id;
  object["benchmark"] = message.benchmark;
  object["build"] = message.build;
  object["measure"] = message.measure;
  object["limits"] = message.limits;
  object["takes_turns"] = message.takes_turns;
  if (!message.metrics.empty()) object["metrics"] = message.metrics;
  if (!message.exact.empty()) object["exact"] = message.exact;
  if (!message.command.empty()) object["command"] = message.command;
  if (message.waits) object["waits"] = message.waits;
  if (!message.readable.empty()) object["readable"] = message.readable;
  if (!message.caches.variables.empty()) object["caches"] = message.caches;
}

TORCHWATCH_MESSAGE(Round, jobs, seed, one_by_one)
TORCHWATCH_MESSAGE(Ready, id)
TORCHWATCH_MESSAGE(Turn, id)
TORCHWATCH_MESSAGE(Progress, id, phase, done, total)
TORCHWATCH_MESSAGE(Value, value, samples, outliers)
TORCHWATCH_MESSAGE(OperatorCost, name, calls, ms, bytes)
TORCHWATCH_MESSAGE(Outcome,
                   id,
                   benchmark,
                   metrics,
                   accounts,
                   profile,
                   pytorch_version,
                   git_hash,
                   fingerprint,
                   seconds)
TORCHWATCH_MESSAGE(Failure, id, code, text)

namespace {

// Each byte that is not valid UTF-8 becomes three bytes.
constexpr std::size_t longest_cut = max_text_bytes / 3;

/// Parses a line. Checks the depth before values are built, because destroying nested values uses
/// stack at each level.
json parse(std::string const& line) {
  auto const watch = [](int depth, json::parse_event_t, json const&) {
    if (depth >= max_depth)
      throw ProtocolError("nested deeper than " + std::to_string(max_depth) + " levels");
    return true;
  };
  return json::parse(line, watch);
}

void check_text(std::string const& text) {
  if (text.size() > max_text_bytes)
    throw ProtocolError("a text of " + std::to_string(text.size()) + " bytes, allowed are " +
                        std::to_string(max_text_bytes));
}

void check_texts(json const& value) {
  if (value.is_string()) check_text(value.get_ref<std::string const&>());
  if (value.is_object())
    for (auto const& item : value.items())
      check_text(item.key());
  if (value.is_structured())
    for (auto const& part : value)
      check_texts(part);
}

/// True for messages of runners and workers. They come from untrusted builds and other hosts.
bool is_untrusted(std::string const& type) {
  return type != "job" && type != "round" && type != "turn";
}

Message decode_object(json const& object) {
  auto const type = object.at("type").get<std::string>();
  if (is_untrusted(type)) check_texts(object);
  if (type == "hello") return object.get<Hello>();
  if (type == "job") return object.get<Job>();
  if (type == "round") return object.get<Round>();
  if (type == "ready") return object.get<Ready>();
  if (type == "turn") return object.get<Turn>();
  if (type == "progress") return object.get<Progress>();
  if (type == "result") return object.get<Outcome>();
  if (type == "error") return object.get<Failure>();
  throw ProtocolError("unknown message type \"" + type + "\"");
}

}  // namespace

std::string type_of(Message const& message) {
  // In the order of the alternatives.
  constexpr std::array names{
      "hello", "job", "round", "ready", "turn", "progress", "result", "error"};
  static_assert(names.size() == std::variant_size_v<Message>);
  return names[message.index()];
}

std::string encode(Message const& message) {
  json object;
  std::visit([&object](auto const& alternative) { object = alternative; }, message);
  object["type"] = type_of(message);
  if (auto const* const failure = std::get_if<Failure>(&message))
    object["text"] = failure->text.substr(0, longest_cut);
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Message decode(std::string const& line) {
  if (line.size() > max_line_bytes) throw ProtocolError("line longer than 8 MiB");
  try {
    return decode_object(parse(line));
  } catch (json::exception const& problem) {
    throw ProtocolError(std::string("not a message: ") + problem.what());
  }
}

}  // namespace torchwatch::protocol
