#include "storage/domain/ruling.h"

namespace torchwatch {

std::string_view to_string(RulingKind kind) {
  switch (kind) {
    case RulingKind::accept:
      return "accept";
    case RulingKind::false_alarm:
      return "false_alarm";
    case RulingKind::mute:
      return "mute";
    case RulingKind::unmute:
      return "unmute";
  }
  return "unknown";
}

std::optional<RulingKind> parse_ruling_kind(std::string_view text) {
  for (auto const kind :
       {RulingKind::accept, RulingKind::false_alarm, RulingKind::mute, RulingKind::unmute})
    if (text == to_string(kind)) return kind;
  return std::nullopt;
}

bool may_be_on_incident(RulingKind kind) {
  return kind == RulingKind::accept || kind == RulingKind::false_alarm;
}

bool may_be_on_series(RulingKind kind) {
  return kind != RulingKind::false_alarm;
}

bool SeriesFilter::matches(Series const& one) const {
  return (fleet.empty() || fleet == one.fleet) && (!benchmark || *benchmark == one.benchmark) &&
         (!metric || *metric == one.metric);
}

}  // namespace torchwatch
