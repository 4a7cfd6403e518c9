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

Message decode_object(json const& object) {
  auto const type = object.at("type").get<std::string>();
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
  return object.dump(-1, ' ', false, json::error_handler_t::replace);
}

Message decode(std::string const& line) {
  if (line.size() > max_line_bytes) throw ProtocolError("line longer than 8 MiB");
  try {
    return decode_object(json::parse(line));
  } catch (json::exception const& problem) {
    throw ProtocolError(std::string("not a message: ") + problem.what());
  }
}

}  // namespace torchwatch::protocol
