#include "daemon/api/steering_request.h"

#include <array>
#include <optional>
#include <string_view>

#include "daemon/api/body.h"

namespace torchwatch::api {
namespace {

constexpr std::array steering_fields{"state"};

/// The states that a person may ask for; the others a bisection reaches by itself.
std::optional<BisectionState> parse_wanted_state(std::string_view text) {
  using enum BisectionState;
  for (auto const state : {paused, queued, cancelled})
    if (text == to_string(state)) return state;
  return std::nullopt;
}

}  // namespace

boost::system::result<BisectionState, std::vector<net::FieldError>> parse_steering_request(
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
