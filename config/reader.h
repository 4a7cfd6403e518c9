#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/complaints.h"
#include "config/describe.h"
#include "config/value.h"

namespace torchwatch::config {

/// The visitor that reads one object's fields from JSON. Absent fields keep their default.
class Reader {
 public:
  Reader(Json const& json,
         std::string path,
         std::filesystem::path const& directory,
         Complaints& complaints)
      : json_{json},
        path_{std::move(path)},
        directory_{directory},
        complaints_{complaints} {}

  /// Adds a complaint for each key that belongs to no field.
  void finish();

  template <Scalar T>
  void operator()(char const* key, T& field, Rule const& rule) {
    if (auto const* const json = find(key))
      scalar(*json, member_path(path_, key), field, rule);
    else if (rule.non_empty && to_json(field) == "")
      complaints_.add(member_path(path_, key), "nothing", allowed<T>(rule));
  }

  template <class T>
  void operator()(char const* key, std::vector<T>& field, Rule const& rule) {
    auto const* const json = find(key);
    if (json == nullptr) return;
    auto const path = member_path(path_, key);
    if (!json->is_array()) {
      complaints_.add(path, found(*json), "a list");
      return;
    }
    if (rule.non_empty && json->empty())
      complaints_.add(path, "an empty list", "one with at least one entry");
    field.clear();
    for (std::size_t i = 0; i < json->size(); ++i) {
      auto const& entry = (*json)[i];
      auto const at = path + "[" + std::to_string(i) + "]";
      T element{};
      if constexpr (Scalar<T>)
        scalar(entry, at, element, of_entry(rule));
      else
        object(entry, at, element);
      field.push_back(std::move(element));
      auto const before = json->begin() + static_cast<std::ptrdiff_t>(i);
      if (rule.distinct && std::find(json->begin(), before, entry) != before)
        complaints_.add(at, found(entry) + " again", "each entry once");
    }
  }

  template <class T>
  void operator()(char const* key, std::map<std::string, T>& field, Rule const& rule) {
    auto const* const json = find(key);
    if (json == nullptr) return;
    auto const path = member_path(path_, key);
    if (!json->is_object()) {
      complaints_.add(path, found(*json), "an object");
      return;
    }
    field.clear();
    for (auto const& [name, value] : json->items()) {
      auto const at = member_path(path, name);
      auto word = name;
      check_text(word, at, of_entry(rule));
      if constexpr (Scalar<T>)
        scalar(value, at, field[name], Rule{});
      else
        object(value, at, field[name]);
    }
  }

  template <Section T>
  void operator()(char const* key, T& field, Rule const&) {
    static Json const empty = Json::object();  // its fields may have no defaults
    auto const* const json = find(key);
    object(json != nullptr ? *json : empty, member_path(path_, key), field);
  }

 private:
  template <Section T>
  void object(Json const& json, std::string const& path, T& field) {
    if (!json.is_object()) {
      complaints_.add(path, found(json), "an object");
      return;
    }
    Reader reader{json, path, directory_, complaints_};
    describe(reader, field);
    reader.finish();
  }

  template <Scalar T>
  void scalar(Json const& json, std::string const& path, T& field, Rule const& rule) {
    if (!from_json(json, rule, field)) {
      complaints_.add(path, found(json), allowed<T>(rule));
      return;
    }
    if constexpr (std::same_as<T, std::string>) check_text(field, path, rule);
  }

  Json const* find(char const* key);
  /// Checks a text against its rule, and makes a path absolute.
  void check_text(std::string& text, std::string const& path, Rule const& rule);

  Json const& json_;
  std::string path_;
  std::filesystem::path const& directory_;
  Complaints& complaints_;
  std::vector<std::string> asked_;
};

}  // namespace torchwatch::config
