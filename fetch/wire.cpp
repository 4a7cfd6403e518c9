#include "fetch/wire.h"

#include <nlohmann/json.hpp>

#include "storage/base/number.h"

namespace torchwatch {

NLOHMANN_JSON_SERIALIZE_ENUM(ErrorCode,
                             {{ErrorCode::internal, "internal"},
                              {ErrorCode::invalid_argument, "invalid_argument"},
                              {ErrorCode::not_found, "not_found"},
                              {ErrorCode::unavailable, "unavailable"},
                              {ErrorCode::refused, "refused"},
                              {ErrorCode::corrupt, "corrupt"},
                              {ErrorCode::cancelled, "cancelled"}})

namespace fetch {

NLOHMANN_JSON_SERIALIZE_ENUM(Downloaded::End,
                             {{Downloaded::End::whole, "whole"},
                              {Downloaded::End::unchanged, "unchanged"},
                              {Downloaded::End::absent, "absent"}})

NLOHMANN_JSON_SERIALIZE_ENUM(PackageKind,
                             {{PackageKind::wheel, "wheel"}, {PackageKind::libtorch, "libtorch"}})

NLOHMANN_JSON_SERIALIZE_ENUM(FetchProgress::Phase,
                             {{FetchProgress::Phase::downloading, "downloading"},
                              {FetchProgress::Phase::unpacking, "unpacking"}})

namespace {

using nlohmann::json;

/// An error in a line that the library does not find. Thrown and caught in this file.
struct Odd {
  std::string what;
};

template <class Whole>
Whole whole(json const& object, char const* key) {
  auto const number = whole_number_in<Whole>(object.at(key));
  if (!number) throw Odd{std::string{key} + ": allowed is a whole number within range"};
  return *number;
}

/// Reads a duration of at most a year, so that sums of times cannot overflow.
template <class Duration>
Duration duration(json const& object, char const* key) {
  constexpr std::chrono::hours longest{24 * 366};
  auto const count = whole<std::int64_t>(object, key);
  if (count < 0 || count > std::chrono::duration_cast<Duration>(longest).count())
    throw Odd{std::string{key} + ": allowed is up to a year"};
  return Duration{count};
}

/// Reads a word of an enumeration. The library would read an unknown word as the first one.
template <class Word>
Word word(json const& object, char const* key) {
  auto const& value = object.at(key);
  auto const meaning = value.get<Word>();
  if (json(meaning) != value) throw Odd{std::string{key} + ": an unknown word"};
  return meaning;
}

json to_json(Validators const& validators) {
  return {{"etag", validators.etag}, {"last_modified", validators.last_modified}};
}

Validators validators_in(json const& value) {
  return {value.at("etag"), value.at("last_modified")};
}

json to_json(DownloadRequest const& request) {
  return {{"url", request.url},
          {"hosts", request.hosts},
          {"ca_file", request.ca_file},
          {"known", to_json(request.known)},
          {"is_asked_only", request.is_asked_only},
          {"may_be_encoded", request.may_be_encoded},
          {"sha256", request.sha256},
          {"most_bytes", request.most_bytes},
          {"is_durable", request.is_durable},
          {"limit_s", request.limit.count()},
          {"least_speed", request.least_speed},
          {"stall_s", request.stall.count()},
          {"attempts", request.attempts},
          {"pause_ms", request.pause.count()}};
}

DownloadRequest download_in(json const& value) {
  DownloadRequest request;
  value.at("url").get_to(request.url);
  value.at("hosts").get_to(request.hosts);
  value.at("ca_file").get_to(request.ca_file);
  request.known = validators_in(value.at("known"));
  value.at("is_asked_only").get_to(request.is_asked_only);
  value.at("may_be_encoded").get_to(request.may_be_encoded);
  value.at("sha256").get_to(request.sha256);
  request.most_bytes = whole<std::int64_t>(value, "most_bytes");
  value.at("is_durable").get_to(request.is_durable);
  request.limit = duration<std::chrono::seconds>(value, "limit_s");
  request.least_speed = whole<std::int64_t>(value, "least_speed");
  request.stall = duration<std::chrono::seconds>(value, "stall_s");
  request.attempts = whole<int>(value, "attempts");
  request.pause = duration<std::chrono::milliseconds>(value, "pause_ms");
  return request;
}

json to_json(UnpackLimits const& limits) {
  return {{"bytes", limits.bytes},
          {"entries", limits.entries},
          {"ratio", limits.ratio},
          {"path", limits.path}};
}

UnpackLimits limits_in(json const& value) {
  UnpackLimits limits;
  limits.bytes = whole<std::int64_t>(value, "bytes");
  limits.entries = whole<std::int64_t>(value, "entries");
  limits.ratio = whole<std::int64_t>(value, "ratio");
  limits.path = whole<std::size_t>(value, "path");
  return limits;
}

json to_json(PackageFilter const& filter) {
  return {{"kind", filter.kind},
          {"variant", filter.variant},
          {"machine", filter.machine},
          {"python", filter.python},
          {"abi", filter.abi}};
}

PackageFilter filter_in(json const& value) {
  return {word<PackageKind>(value, "kind"),
          value.at("variant"),
          value.at("machine"),
          value.at("python"),
          value.at("abi")};
}

json to_json(Offer const& offer) {
  auto const& package = offer.package;
  return {{"kind", package.kind},
          {"version", package.version},
          {"date", package.date},
          {"variant", package.variant},
          {"python", package.python},
          {"abi", package.abi},
          {"platform", package.platform},
          {"url", offer.url},
          {"sha256", offer.sha256}};
}

Offer offer_in(json const& value) {
  return {{word<PackageKind>(value, "kind"),
           value.at("version"),
           value.at("date"),
           value.at("variant"),
           value.at("python"),
           value.at("abi"),
           value.at("platform")},
          value.at("url"),
          value.at("sha256")};
}

json to_json(FetchProgress const& progress) {
  json value{{"phase", progress.phase}, {"bytes", progress.bytes}};
  if (progress.of) value["of"] = *progress.of;
  return {{"progress", std::move(value)}};
}

FetchProgress progress_in(json const& value) {
  FetchProgress progress{word<FetchProgress::Phase>(value, "phase"),
                         whole<std::int64_t>(value, "bytes"),
                         std::nullopt};
  if (value.contains("of")) progress.of = whole<std::int64_t>(value, "of");
  return progress;
}

json to_json(Fetched const& fetched) {
  return {{"fetched",
           {{"end", fetched.download.end},
            {"validators", to_json(fetched.download.validators)},
            {"bytes", fetched.download.bytes},
            {"resumed_from", fetched.download.resumed_from},
            {"sha256", fetched.download.sha256},
            {"unpacked_bytes", fetched.unpacked.bytes},
            {"unpacked_entries", fetched.unpacked.entries},
            {"record_warning", fetched.record_warning}}}};
}

Fetched fetched_in(json const& value) {
  return {{word<Downloaded::End>(value, "end"),
           validators_in(value.at("validators")),
           whole<std::int64_t>(value, "bytes"),
           whole<std::int64_t>(value, "resumed_from"),
           value.at("sha256")},
          {whole<std::int64_t>(value, "unpacked_bytes"),
           whole<std::int64_t>(value, "unpacked_entries")},
          value.at("record_warning")};
}

json to_json(Index const& index) {
  auto offers = json::array();
  for (auto const& offer : index.offers)
    offers.push_back(to_json(offer));
  return {{"index",
           {{"end", index.end},
            {"validators", to_json(index.validators)},
            {"offers", std::move(offers)},
            {"misfit", index.misfit},
            {"newer", index.newer}}}};
}

Index index_in(json const& value) {
  Index index{word<Downloaded::End>(value, "end"), validators_in(value.at("validators")), {}};
  for (auto const& offer : value.at("offers"))
    index.offers.push_back(offer_in(offer));
  value.at("misfit").get_to(index.misfit);
  value.at("newer").get_to(index.newer);
  return index;
}

json to_json(CompanionFile const& file) {
  return {{"companion",
           {{"name", file.name},
            {"version", file.version},
            {"url", file.url},
            {"sha256", file.sha256},
            {"variant", file.variant}}}};
}

CompanionFile companion_file_in(json const& value) {
  return {value.at("name"),
          value.at("version"),
          value.at("url"),
          value.at("sha256"),
          value.at("variant")};
}

json to_json(Refusal const& refusal) {
  auto const& error = refusal.error;
  return {{"error", {{"code", error.code}, {"message", error.message}}}};
}

json to_json(FetchRequest const& request) {
  return {{"fetch",
           {{"download", to_json(request.download)},
            {"file", request.file.string()},
            {"directory", request.directory.string()},
            {"is_wheel", request.is_wheel},
            {"limits", to_json(request.limits)}}}};
}

FetchRequest fetch_request_in(json const& value) {
  FetchRequest request;
  request.download = download_in(value.at("download"));
  request.file = value.at("file").get<std::string>();
  request.directory = value.at("directory").get<std::string>();
  value.at("is_wheel").get_to(request.is_wheel);
  request.limits = limits_in(value.at("limits"));
  return request;
}

json to_json(IndexRequest const& request) {
  return {{"look",
           {{"page", to_json(request.page)},
            {"file", request.file.string()},
            {"filter", to_json(request.filter)}}}};
}

IndexRequest index_request_in(json const& value) {
  return {download_in(value.at("page")),
          value.at("file").get<std::string>(),
          filter_in(value.at("filter"))};
}

json to_json(CompanionRequest const& request) {
  return {{"find",
           {{"page", to_json(request.page)},
            {"file", request.file.string()},
            {"requirement", request.requirement},
            {"python", request.target.python},
            {"abi", request.target.abi},
            {"machine", request.target.machine},
            {"version_end", request.version_end},
            {"unsuited", request.unsuited}}}};
}

CompanionRequest companion_request_in(json const& value) {
  return {download_in(value.at("page")),
          value.at("file").get<std::string>(),
          value.at("requirement"),
          {value.at("python"), value.at("abi"), value.at("machine")},
          value.at("version_end"),
          value.at("unsuited").get<std::vector<std::string>>()};
}

/// Encodes one alternative of a variant. Replaces bytes that are not UTF-8, which headers and names
/// of files can contain.
template <class Variant>
std::string line_of(Variant const& variant) {
  auto const value = std::visit([](auto const& one) { return to_json(one); }, variant);
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

template <class Read>
auto read_line(std::string const& line, Read read) -> Result<decltype(read(json{}))> {
  try {
    return read(json::parse(line));
  } catch (json::exception const& problem) {
    return Error{ErrorCode::corrupt, std::string{"torchwatch-fetch: "} + problem.what()};
  } catch (Odd const& odd) {
    return Error{ErrorCode::corrupt, "torchwatch-fetch: " + odd.what};
  }
}

}  // namespace

std::string encode(Request const& request) {
  return line_of(request);
}

std::string encode(Message const& message) {
  return line_of(message);
}

Result<Request> decode_request(std::string const& line) {
  return read_line(line, [](json const& value) -> Request {
    if (value.contains("look")) return index_request_in(value.at("look"));
    if (value.contains("find")) return companion_request_in(value.at("find"));
    return fetch_request_in(value.at("fetch"));
  });
}

Result<Message> decode_message(std::string const& line) {
  return read_line(line, [](json const& value) -> Message {
    if (value.contains("progress")) return progress_in(value.at("progress"));
    if (value.contains("fetched")) return fetched_in(value.at("fetched"));
    if (value.contains("index")) return index_in(value.at("index"));
    if (value.contains("companion")) return companion_file_in(value.at("companion"));
    auto const& error = value.at("error");
    return Refusal{{word<ErrorCode>(error, "code"), error.at("message")}};
  });
}

}  // namespace fetch
}  // namespace torchwatch
