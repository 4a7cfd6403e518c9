#include "daemon/api/build_request.h"

#include <array>

#include "daemon/api/body.h"

namespace torchwatch::api {
namespace {

using builds::BuildAction;

constexpr std::array build_fields{"action", "build", "who", "why"};

/// Returns the text of a field if the action has it. Otherwise, a field is an error. `allowed`:
/// actions that have it.
std::string text_of_action(Body& body, char const* name, bool has_it, std::string const& allowed) {
  if (has_it) return body.words(name);
  if (body.field(name) != nullptr)
    body.refuse(name, "found a field of other actions, allowed only for " + allowed);
  return {};
}

}  // namespace

boost::system::result<builds::BuildRequest, std::vector<http::FieldError>> parse_build_request(
    std::string const& text) {
  constexpr auto actions = R"("pin", "unpin", "remove", "prune", "fetch")";
  Body body{text, build_fields};
  builds::BuildRequest request;
  auto const action = body.word("action", builds::parse_build_action, actions);
  if (body.is_object() && body.field("action") == nullptr)
    body.refuse("action", std::string{"found nothing, allowed "} + actions);
  if (!action) return body.errors();
  request.action = *action;
  bool const has_reason = *action == BuildAction::pin || *action == BuildAction::fetch;
  request.build =
      text_of_action(body, "build", *action != BuildAction::prune, "pin, unpin, remove, fetch");
  request.who = text_of_action(body, "who", has_reason, "pin, fetch");
  request.why = text_of_action(body, "why", has_reason, "pin, fetch");
  if (!body.errors().empty()) return body.errors();
  return request;
}

}  // namespace torchwatch::api
