#include <nlohmann/json.hpp>

#include "fetch/wire.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

/// That what was read is what was said, and is read again alike.
template <class Decode>
void check_line(std::string const& line, Decode decode) {
  auto const read = decode(line);
  if (!read) {
    require(read.error().code == ErrorCode::corrupt, "what cannot be read is corrupt");
    return;
  }
  auto const said = fetch::encode(*read);
  require(said.find('\n') == std::string::npos, "a message is one line");
  require(agrees(nlohmann::json::parse(line), nlohmann::json::parse(said)),
          "what is kept is what was sent");
  auto const again = decode(said);
  require(again.has_value() && fetch::encode(*again) == said, "a message is read as it was sent");
}

}  // namespace

/// A line between the service and torchwatch-fetch, in either direction.
void fetch_line(std::string_view input) {
  std::string const line{input};
  check_line(line, fetch::decode_request);
  check_line(line, fetch::decode_message);
}

}  // namespace torchwatch::fuzz
