#include "daemon/api/pages.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "http/url.h"
#include "storage/base/number.h"

namespace torchwatch::api {
namespace {

constexpr std::size_t most_a_page = 500;

}  // namespace

http::HttpResponse ok(Json const& json) {
  http::HttpResponse response;
  response.headers["content-type"] = "application/json";
  response.headers["cache-control"] = "no-store";
  response.body = text_of(json) + "\n";
  return response;
}

std::string format_of(Query const& query,
                      std::vector<std::string_view> const& allowed,
                      std::vector<http::FieldError>& errors) {
  auto const given = query.find("format");
  if (given == query.end()) return std::string{allowed.front()};
  if (std::ranges::find(allowed, given->second) == allowed.end())
    errors.push_back(
        {"format",
         fmt::format("found \"{}\", allowed \"{}\"", given->second, fmt::join(allowed, "\", \""))});
  return given->second;
}

http::HttpResponse text(std::string const& media_type, std::string body) {
  http::HttpResponse response;
  response.headers["content-type"] = media_type;
  response.headers["cache-control"] = "no-store";
  response.body = std::move(body);
  return response;
}

Page page_of(Query const& query, std::vector<http::FieldError>& errors) {
  Page page;
  auto const read =
      [&](char const* name, std::size_t& value, std::size_t lowest, std::size_t most) {
        auto const given = query.find(name);
        if (given == query.end()) return;
        auto const number = parse_number<std::size_t>(given->second);
        if (number && *number >= lowest && *number <= most) {
          value = *number;
          return;
        }
        errors.push_back({name,
                          "found \"" + given->second + "\", allowed a whole number from " +
                              std::to_string(lowest) + " to " + std::to_string(most)});
      };
  read("limit", page.limit, 1, most_a_page);
  read("offset", page.offset, 0, 1'000'000'000);
  auto const before = query.find("before");
  if (before == query.end()) return page;
  page.before = parse_number<std::int64_t>(before->second);
  if (!page.before)
    errors.push_back(
        {"before", "found \"" + before->second + "\", allowed the id of a record in this list"});
  if (query.contains("offset"))
    errors.push_back({"before", "found together with offset, allowed only one of the two"});
  return page;
}

std::string link_to_next(Call const& call, Page const& page) {
  auto link = "<" + call.path + "?";
  for (auto const& [name, value] : call.query)
    if (name != "limit" && name != "offset" && name != "before")
      link += name + "=" + http::percent_encode(value) + "&";
  auto const place = page.before ? "&before=" + std::to_string(*page.before)
                                 : "&offset=" + std::to_string(page.offset);
  return link + "limit=" + std::to_string(page.limit) + place + ">; rel=\"next\"";
}

http::HttpResponse bad_query(std::vector<http::FieldError> const& errors) {
  return http::problem(400, "the query has errors; \"errors\" names each parameter", errors);
}

http::HttpResponse unknown_id(std::string const& id) {
  return http::problem(404, "id \"" + id + "\": not found; this path without the id lists all");
}

}  // namespace torchwatch::api
