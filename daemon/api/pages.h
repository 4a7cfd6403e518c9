#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/handlers.h"
#include "daemon/api/json.h"

/// What answers have in common.
namespace torchwatch::api {

/// 200 with `json`, not to be cached.
http::HttpResponse ok(Json const& json);

/// 400: what is wrong with the query's parameters.
http::HttpResponse bad_query(std::vector<http::FieldError> const& errors);

/// 404: `id`, as it stands in the path, is nobody's.
http::HttpResponse unknown_id(std::string const& id);

/// Whether all that is to be known of a nightly is.
inline bool is_judged(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done;
}

/// The format that a query asks for, one of `allowed`: the first unless it says. And what is wrong
/// with what it says.
std::string format_of(Query const& query,
                      std::vector<std::string_view> const& allowed,
                      std::vector<http::FieldError>& errors);

/// 200 with anything but JSON.
http::HttpResponse text(std::string const& media_type, std::string body);

/// Which part of a list is asked for: what follows the record `before`, or `offset` records.
struct Page {
  std::size_t limit = 100;
  std::size_t offset = 0;
  std::optional<std::int64_t> before;
};

/// The page that a query asks for, and what is wrong with what it says.
Page page_of(Query const& query, std::vector<http::FieldError>& errors);

/// The value of a Link header that leads to `page`.
std::string link_to_next(Call const& call, Page const& page);

/// Has a number, and keeps its place among those that are older: new ones come before it.
template <class Record>
concept Numbered = requires(Record const& record) {
  record.id.value;
};

/// The page after one that ends before `end`. Where records are numbered it is the same whatever
/// came meanwhile.
template <class Record>
Page next_page(Page const& page, std::vector<Record> const& records, std::size_t end) {
  if constexpr (Numbered<Record>)
    return {page.limit, 0, records[end - 1].id.value};
  else
    return {page.limit, end, std::nullopt};
}

/// Puts the place of the record `page.before` in the place of its number; what is wrong with that.
template <Numbered Record>
void find_place(Page& page,
                std::vector<Record> const& records,
                std::vector<http::FieldError>& errors) {
  if (!page.before) return;
  auto const at = std::ranges::find(
      records, *page.before, [](Record const& record) { return record.id.value; });
  if (at == records.end())
    errors.push_back({"before", "found " + std::to_string(*page.before) + ", which is nobody's"});
  page.offset = static_cast<std::size_t>(at - records.begin()) + 1;
}

/// {total, limit, offset, items}: one page of `records`, each as `show` has it.
template <class Record, class Show>
http::HttpResponse paged(Call const& call, std::vector<Record> const& records, Show show) {
  std::vector<http::FieldError> errors;
  auto page = page_of(call.query, errors);
  if constexpr (Numbered<Record>) find_place(page, records, errors);
  if (!errors.empty()) return bad_query(errors);
  Json json;
  json["total"] = records.size();
  json["limit"] = page.limit;
  json["offset"] = page.offset;
  json["items"] = Json::array();
  auto const begin = std::min(page.offset, records.size());
  auto const end = std::min(page.offset + page.limit, records.size());
  for (auto at = begin; at < end; ++at)
    json["items"].push_back(show(records[at]));
  auto response = ok(json);
  if (end < records.size())
    response.headers["link"] = link_to_next(call, next_page(page, records, end));
  return response;
}

}  // namespace torchwatch::api
