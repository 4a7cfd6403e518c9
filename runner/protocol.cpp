#include "runner/protocol.h"

#include <utility>

namespace torchwatch::protocol {

using nlohmann::json;

// Reading keeps a field's default when it is absent; a wrong type throws.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Hello, protocol, role, pytorch_version, git_hash, devices, fingerprint)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(BuildRef, prefix, worker, launcher, env, preload)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Measure, runs, warmup, min_run_ms, threads, leak_iterations, seed, scale)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Limits, timeout_s, memory_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Job, id, benchmark, build, measure, limits)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Progress, id, phase, done, total)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Value, value, samples)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(
    Outcome, id, benchmark, metrics, accounts, pytorch_version, git_hash, fingerprint, seconds)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE_WITH_DEFAULT(Failure, id, code, text)

namespace {

std::string type_of(Hello const&) {
  return "hello";
}

std::string type_of(Job const&) {
  return "job";
}

std::string type_of(Progress const&) {
  return "progress";
}

std::string type_of(Outcome const&) {
  return "result";
}

std::string type_of(Failure const&) {
  return "error";
}

Message decode_object(json const& object) {
  auto const type = object.at("type").get<std::string>();
  if (type == "hello") return object.get<Hello>();
  if (type == "job") return object.get<Job>();
  if (type == "progress") return object.get<Progress>();
  if (type == "result") return object.get<Outcome>();
  if (type == "error") return object.get<Failure>();
  throw ProtocolError("unknown message type \"" + type + "\"");
}

}  // namespace

std::string encode(Message const& message) {
  json object;
  std::visit(
      [&object](auto const& alternative) {
        object = alternative;
        object["type"] = type_of(alternative);
      },
      message);
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
