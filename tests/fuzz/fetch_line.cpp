#include <nlohmann/json.hpp>

#include "fetch/wire.h"
#include "tests/fuzz/property.h"
#include "tests/fuzz/targets.h"

namespace torchwatch::fuzz {
namespace {

/// Checks that a line is read exactly, and that writing and reading it again gives an equal
/// message.
template <class Decode>
void check_line(std::string const& line, Decode decode) {
  auto const read = decode(line);
  if (!read) {
    require(read.error().code == ErrorCode::corrupt, "an unreadable line is corrupt");
    return;
  }
  auto const said = fetch::encode(*read);
  require(said.find('\n') == std::string::npos, "a message is one line");
  require(agrees(nlohmann::json::parse(line), nlohmann::json::parse(said)),
          "values are kept as sent");
  auto const again = decode(said);
  require(again.has_value() && fetch::encode(*again) == said,
          "a written message is read as an equal one");
}

}  // namespace

/// A line between the service and torchwatch-fetch, in either direction.
void fetch_line(std::string_view input) {
  std::string const line{input};
  check_line(line, fetch::decode_request);
  check_line(line, fetch::decode_message);
}

}  // namespace torchwatch::fuzz
