#include "runner/protocol.h"

#include <array>
#include <utility>

namespace torchwatch::protocol {

using nlohmann::json;

// Reading keeps a field's default when it is absent; a wrong type throws.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Hello, protocol, role, pytorch_version, git_hash, devices, fingerprint)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BuildRef, prefix, worker, launcher, env, preload)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Measure,
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
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Limits, timeout_s, memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Job, id, benchmark, build, measure, limits, takes_turns)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Round, jobs)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Ready, id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Turn, id)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Progress, id, phase, done, total)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Value, value, samples, outliers)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(OperatorCost, name, calls, ms, bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Outcome,
                                                id,
                                                benchmark,
                                                metrics,
                                                accounts,
                                                profile,
                                                pytorch_version,
                                                git_hash,
                                                fingerprint,
                                                seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Failure, id, code, text)

namespace {

// Of bytes that are no UTF-8 each becomes three.
constexpr std::size_t longest_cut = max_text_bytes / 3;

/// Before it is built: to destroy a value costs the stack as much as it is deep.
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

/// What the service says is its own; the rest comes from other people's builds and hosts.
bool is_from_below(std::string const& type) {
  return type != "job" && type != "round" && type != "turn";
}

Message decode_object(json const& object) {
  auto const type = object.at("type").get<std::string>();
  if (is_from_below(type)) check_texts(object);
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
