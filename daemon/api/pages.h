#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/api/handlers.h"
#include "daemon/api/json.h"

/// Helpers of the handlers: responses, formats and pages of lists.
namespace torchwatch::api {

/// Returns 200 with `json`, which clients must not cache.
http::HttpResponse ok(Json const& json);

/// Returns 400 with the errors in the parameters of a query.
http::HttpResponse bad_query(std::vector<http::FieldError> const& errors);

/// Returns 404: no record has the `id` of the path.
http::HttpResponse unknown_id(std::string const& id);

/// True if all verdicts and bisections of a nightly have ended.
inline bool is_judged(Nightly const& nightly) {
  return nightly.state == NightlyState::bisected || nightly.state == NightlyState::done;
}

/// Returns the format that a query requests, one of `allowed`; by default the first. Another format
/// is added to `errors`.
std::string format_of(Query const& query,
                      std::vector<std::string_view> const& allowed,
                      std::vector<http::FieldError>& errors);

/// Returns 200 with a body of any media type.
http::HttpResponse text(std::string const& media_type, std::string body);

/// The requested part of a list: `limit` records after the record `before`, or after `offset`
/// records.
struct Page {
  std::size_t limit = 100;
  std::size_t offset = 0;
  std::optional<std::int64_t> before;
};

/// Returns the page that a query requests. Adds wrong parameters to `errors`.
Page page_of(Query const& query, std::vector<http::FieldError>& errors);

/// Returns the value of a Link header to `page`.
std::string link_to_next(Call const& call, Page const& page);

/// A record with an id. Its lists have new records first, so the records after it do not change.
template <class Record>
concept Numbered = requires(Record const& record) {
  record.id.value;
};

/// Returns the page after one that ends before index `end`. For numbered records, new records do
/// not change it.
template <class Record>
Page next_page(Page const& page, std::vector<Record> const& records, std::size_t end) {
  if constexpr (Numbered<Record>)
    return {page.limit, 0, records[end - 1].id.value};
  else
    return {page.limit, end, std::nullopt};
}

/// Sets `page.offset` to the index after the record `page.before`. Adds an error if there is none.
template <Numbered Record>
void find_place(Page& page,
                std::vector<Record> const& records,
                std::vector<http::FieldError>& errors) {
  if (!page.before) return;
  auto const at = std::ranges::find(
      records, *page.before, [](Record const& record) { return record.id.value; });
  if (at == records.end())
    errors.push_back({"before",
                      "found " + std::to_string(*page.before) +
                          ", allowed the id of a record in this list; omit it for the first page"});
  page.offset = static_cast<std::size_t>(at - records.begin()) + 1;
}

/// Returns {total, limit, offset, items}: one page of `records`, each converted by `show`.
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
