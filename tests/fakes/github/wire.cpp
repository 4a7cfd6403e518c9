#include "tests/fakes/github/wire.h"

#include <algorithm>
#include <charconv>

#include "http/url.h"

namespace torchwatch::fakes {
namespace {

using nlohmann::json;

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    unsigned int byte = 0;
    auto const* const digits = text.data() + i + 1;
    if (text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2) {
      plain += static_cast<char>(byte);
      i += 2;
    } else {
      plain += text[i] == '+' ? ' ' : text[i];
    }
  }
  return plain;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    auto const end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::size_t number_in(std::map<std::string, std::string> const& query,
                      std::string const& name,
                      std::size_t otherwise) {
  auto const found = query.find(name);
  if (found == query.end()) return otherwise;
  std::size_t number = 0;
  auto const& text = found->second;
  auto const failure = std::from_chars(text.data(), text.data() + text.size(), number).ec;
  return failure == std::errc{} && number > 0 ? number : otherwise;
}

std::string link(std::string const& place,
                 std::map<std::string, std::string> query,
                 std::size_t page,
                 std::string const& relation) {
  query["page"] = std::to_string(page);
  std::string parameters;
  for (auto const& [name, value] : query) {
    parameters += parameters.empty() ? "?" : "&";
    parameters += name + "=" + torchwatch::http::percent_encode(value);
  }
  return "<" + place + parameters + ">; rel=\"" + relation + "\"";
}

}  // namespace

Target parse_target(std::string_view target) {
  Target parsed;
  auto const path = target.substr(0, target.find('?'));
  for (auto const part : split(path.substr(std::min<std::size_t>(1, path.size())), '/'))
    parsed.path.push_back(decoded(part));
  if (path.size() == target.size()) return parsed;
  for (auto const parameter : split(target.substr(path.size() + 1), '&')) {
    auto const equals = std::min(parameter.find('='), parameter.size());
    auto const value = parameter.substr(std::min(equals + 1, parameter.size()));
    if (equals > 0) parsed.query[decoded(parameter.substr(0, equals))] = decoded(value);
  }
  return parsed;
}

github::Response answer(int status, json const& body) {
  github::Response response;
  response.status = status;
  response.headers["content-type"] = "application/json; charset=utf-8";
  response.body = body.dump();
  return response;
}

github::Response problem(int status, std::string const& message, json const& errors) {
  json body{{"message", message}, {"documentation_url", "https://docs.github.com/rest"}};
  body["status"] = std::to_string(status);
  if (!errors.empty()) body["errors"] = errors;
  return answer(status, body);
}

github::Response page_of(std::vector<json> const& all,
                         std::string const& place,
                         std::map<std::string, std::string> query) {
  auto const size = std::min<std::size_t>(number_in(query, "per_page", 30), 100);
  auto const page = number_in(query, "page", 1);
  auto const last = std::max<std::size_t>((all.size() + size - 1) / size, 1);
  auto items = json::array();
  for (auto i = std::min((std::min(page, last + 1) - 1) * size, all.size());
       i < all.size() && items.size() < size;
       ++i)
    items.push_back(all[i]);
  auto response = answer(200, items);
  std::vector<std::string> links;
  if (page > 1) links.push_back(link(place, query, page - 1, "prev"));
  if (page < last) links.push_back(link(place, query, page + 1, "next"));
  if (page < last) links.push_back(link(place, query, last, "last"));
  if (page > 1) links.push_back(link(place, query, 1, "first"));
  for (auto const& one : links) {
    auto& header = response.headers["link"];
    header += (header.empty() ? "" : ", ") + one;
  }
  return response;
}

}  // namespace torchwatch::fakes
