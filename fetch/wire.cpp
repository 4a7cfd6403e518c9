#include "fetch/wire.h"

#include <nlohmann/json.hpp>

#include "storage/domain/whole_number.h"

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

/// What is wrong with a line, beside what the library finds; thrown and caught in this file.
struct Odd {
  std::string what;
};

template <class Whole>
Whole whole(json const& object, char const* key) {
  auto const number = whole_number_in<Whole>(object.at(key));
  if (!number) throw Odd{std::string{key} + ": allowed is a whole number that fits"};
  return *number;
}

/// Up to a year, so that sums of times cannot overflow.
template <class Duration>
Duration duration(json const& object, char const* key) {
  constexpr std::chrono::hours longest{24 * 366};
  auto const count = whole<std::int64_t>(object, key);
  if (count < 0 || count > std::chrono::duration_cast<Duration>(longest).count())
    throw Odd{std::string{key} + ": allowed is up to a year"};
  return Duration{count};
}

/// The library takes an unknown word for the first one.
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

json to_json(DownloadOrder const& order) {
  return {{"url", order.url},
          {"hosts", order.hosts},
          {"ca_file", order.ca_file},
          {"known", to_json(order.known)},
          {"is_asked_only", order.is_asked_only},
          {"sha256", order.sha256},
          {"most_bytes", order.most_bytes},
          {"is_durable", order.is_durable},
          {"limit_s", order.limit.count()},
          {"least_speed", order.least_speed},
          {"stall_s", order.stall.count()},
          {"attempts", order.attempts},
          {"pause_ms", order.pause.count()}};
}

DownloadOrder download_in(json const& value) {
  DownloadOrder order;
  value.at("url").get_to(order.url);
  value.at("hosts").get_to(order.hosts);
  value.at("ca_file").get_to(order.ca_file);
  order.known = validators_in(value.at("known"));
  value.at("is_asked_only").get_to(order.is_asked_only);
  value.at("sha256").get_to(order.sha256);
  order.most_bytes = whole<std::int64_t>(value, "most_bytes");
  value.at("is_durable").get_to(order.is_durable);
  order.limit = duration<std::chrono::seconds>(value, "limit_s");
  order.least_speed = whole<std::int64_t>(value, "least_speed");
  order.stall = duration<std::chrono::seconds>(value, "stall_s");
  order.attempts = whole<int>(value, "attempts");
  order.pause = duration<std::chrono::milliseconds>(value, "pause_ms");
  return order;
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
            {"unpacked_bytes", fetched.unpacked.bytes},
            {"unpacked_entries", fetched.unpacked.entries}}}};
}

Fetched fetched_in(json const& value) {
  return {{word<Downloaded::End>(value, "end"),
           validators_in(value.at("validators")),
           whole<std::int64_t>(value, "bytes"),
           whole<std::int64_t>(value, "resumed_from")},
          {whole<std::int64_t>(value, "unpacked_bytes"),
           whole<std::int64_t>(value, "unpacked_entries")}};
}

json to_json(Index const& index) {
  auto offers = json::array();
  for (auto const& offer : index.offers)
    offers.push_back(to_json(offer));
  return {{"index",
           {{"end", index.end},
            {"validators", to_json(index.validators)},
            {"offers", std::move(offers)}}}};
}

Index index_in(json const& value) {
  Index index{word<Downloaded::End>(value, "end"), validators_in(value.at("validators")), {}};
  for (auto const& offer : value.at("offers"))
    index.offers.push_back(offer_in(offer));
  return index;
}

json to_json(CompanionFile const& file) {
  return {{"companion",
           {{"name", file.name},
            {"version", file.version},
            {"url", file.url},
            {"sha256", file.sha256}}}};
}

CompanionFile companion_file_in(json const& value) {
  return {value.at("name"), value.at("version"), value.at("url"), value.at("sha256")};
}

json to_json(Refusal const& refusal) {
  auto const& error = refusal.error;
  return {{"error", {{"code", error.code}, {"message", error.message}}}};
}

json to_json(FetchOrder const& order) {
  return {{"fetch",
           {{"download", to_json(order.download)},
            {"file", order.file.string()},
            {"directory", order.directory.string()},
            {"is_wheel", order.is_wheel},
            {"limits", to_json(order.limits)}}}};
}

FetchOrder fetch_order_in(json const& value) {
  FetchOrder order;
  order.download = download_in(value.at("download"));
  order.file = value.at("file").get<std::string>();
  order.directory = value.at("directory").get<std::string>();
  value.at("is_wheel").get_to(order.is_wheel);
  order.limits = limits_in(value.at("limits"));
  return order;
}

json to_json(IndexOrder const& order) {
  return {{"look",
           {{"page", to_json(order.page)},
            {"file", order.file.string()},
            {"filter", to_json(order.filter)}}}};
}

IndexOrder index_order_in(json const& value) {
  return {download_in(value.at("page")),
          value.at("file").get<std::string>(),
          filter_in(value.at("filter"))};
}

json to_json(CompanionOrder const& order) {
  return {{"find",
           {{"page", to_json(order.page)},
            {"file", order.file.string()},
            {"requirement", order.requirement},
            {"machine", order.machine}}}};
}

CompanionOrder companion_order_in(json const& value) {
  return {download_in(value.at("page")),
          value.at("file").get<std::string>(),
          value.at("requirement"),
          value.at("machine")};
}

/// One of a variant's. Servers put anything into their headers, and names of files are bytes.
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

std::string encode(Order const& order) {
  return line_of(order);
}

std::string encode(Message const& message) {
  return line_of(message);
}

Result<Order> decode_order(std::string const& line) {
  return read_line(line, [](json const& value) -> Order {
    if (value.contains("look")) return index_order_in(value.at("look"));
    if (value.contains("find")) return companion_order_in(value.at("find"));
    return fetch_order_in(value.at("fetch"));
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
