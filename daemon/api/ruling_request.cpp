#include "daemon/api/ruling_request.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "daemon/api/body.h"
#include "daemon/api/time.h"
#include "storage/domain/words.h"

namespace torchwatch::api {
namespace {

using http::FieldError;

constexpr std::array ruling_fields{
    "kind", "who", "why", "incident", "fleet", "benchmark", "metric", "until"};

class RulingReader {
 public:
  RulingReader(std::string const& text, std::span<config::FleetOptions const> fleets)
      : body_{text, ruling_fields},
        fleets_{fleets} {}

  Ruling read();

  std::vector<FieldError> const& errors() const { return body_.errors(); }

 private:
  std::optional<IncidentId> incident();
  SeriesFilter series(RulingKind kind);
  std::string fleet();
  void refuse_of_other_kinds(RulingKind kind, bool is_on_incident);

  Body body_;
  std::span<config::FleetOptions const> fleets_;
};

std::optional<IncidentId> RulingReader::incident() {
  auto const* value = body_.field("incident");
  if (value != nullptr && value->is_number_integer()) return IncidentId{value->get<std::int64_t>()};
  body_.refuse("incident",
               (value == nullptr ? "found nothing" : found(*value)) +
                   ", allowed the id of an incident (/api/v1/incidents)");
  return std::nullopt;
}

std::string RulingReader::fleet() {
  auto const* value = body_.field("fleet");
  if (value == nullptr) return {};
  std::string allowed;
  for (auto const& fleet : fleets_) {
    if (*value == nlohmann::json(fleet.name)) return fleet.name;
    allowed += (allowed.empty() ? "" : ", ") + in_quotes(fleet.name);
  }
  body_.refuse("fleet", found(*value) + ", allowed " + allowed);
  return {};
}

SeriesFilter RulingReader::series(RulingKind kind) {
  SeriesFilter filter;
  filter.fleet = fleet();
  filter.benchmark =
      body_.word("benchmark", parse_benchmark, R"(a name like "test_train[dlrm-cpu-eager]")");
  filter.metric = body_.word("metric", parse_metric, words::metric_names());
  if (body_.errors().empty() && filter == SeriesFilter{})
    body_.refuse("benchmark",
                 std::string{"found nothing, allowed at least one of fleet, benchmark, metric"} +
                     (may_be_on_incident(kind) ? ", or an incident" : ""));
  return filter;
}

void RulingReader::refuse_of_other_kinds(RulingKind kind, bool is_on_incident) {
  auto const refuse = [this](char const* name, char const* kinds) {
    if (body_.field(name) != nullptr)
      body_.refuse(name, std::string{"found a field of other kinds, allowed only for "} + kinds);
  };
  if (is_on_incident)
    for (auto const* const name : {"fleet", "benchmark", "metric"})
      refuse(name, "mute, unmute, and accept without an incident");
  else
    refuse("incident", "accept, false_alarm");
  if (kind != RulingKind::mute) refuse("until", "mute");
}

Ruling RulingReader::read() {
  Ruling ruling;
  if (!body_.is_object()) return ruling;
  constexpr auto kinds = R"("accept", "false_alarm", "mute", "unmute")";
  auto const kind = body_.word("kind", parse_ruling_kind, kinds);
  if (body_.field("kind") == nullptr)
    body_.refuse("kind", std::string{"found nothing, allowed "} + kinds);
  if (!kind) return ruling;
  ruling.kind = *kind;
  ruling.who = body_.words("who");
  ruling.why = body_.words("why");
  bool const is_on_incident =
      !may_be_on_series(*kind) || (may_be_on_incident(*kind) && body_.field("incident") != nullptr);
  refuse_of_other_kinds(*kind, is_on_incident);
  if (is_on_incident)
    ruling.incident = incident();
  else
    ruling.series = series(*kind);
  if (ruling.kind == RulingKind::mute)
    ruling.until =
        body_.word("until", parse_time, R"(a time like "2026-12-31T00:00:00Z", or a date)");
  return ruling;
}

}  // namespace

boost::system::result<Ruling, std::vector<FieldError>> parse_ruling_request(
    std::string const& body, std::span<config::FleetOptions const> fleets) {
  RulingReader reader{body, fleets};
  auto ruling = reader.read();
  if (!reader.errors().empty()) return reader.errors();
  return ruling;
}

}  // namespace torchwatch::api
