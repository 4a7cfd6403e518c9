#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "config/describe.h"
#include "config/locate.h"
#include "config/value.h"

namespace torchwatch::config {

/// What is wrong with a file, and where.
class Complaints {
 public:
  Complaints(std::string file, Locations locations)
      : file_{std::move(file)},
        locations_{std::move(locations)} {}

  /// `path` is that of the key, or of the object that lacks one.
  void add(std::string const& path, std::string const& what) {
    auto at = path;
    while (!locations_.line_of.contains(at))  // a missing key is where its object is
      at = at.substr(0, at.find_last_of(".[") == std::string::npos ? 0 : at.find_last_of(".["));
    lines_.push_back(file_ + ":" + std::to_string(locations_.line_of.at(at)) + ": " +
                     (path.empty() ? "" : path + ": ") + what);
  }

  std::vector<std::string> const& lines() const { return lines_; }

 private:
  std::string file_;
  Locations locations_;
  std::vector<std::string> lines_;
};

/// The visitor that fills one object's fields from JSON. What is absent keeps its default.
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

  /// Complains about every key that no field asked for.
  void finish();

  template <Scalar T>
  void operator()(char const* key, T& field, Rule const& rule) {
    auto const* const json = find(key);
    if (json != nullptr) {
      scalar(*json, path_to(key), field, rule);
      return;
    }
    if constexpr (std::same_as<T, std::string>)
      if (rule.non_empty && field.empty())
        complaints_.add(path_to(key), "found nothing, allowed is a text; it has no default");
  }

  template <class T>
  void operator()(char const* key, std::vector<T>& field, Rule const& rule) {
    auto const* const json = find(key);
    if (json == nullptr) return;
    if (!json->is_array()) {
      complaints_.add(path_to(key), "found " + json->dump() + ", allowed is a list");
      return;
    }
    field.clear();
    for (std::size_t i = 0; i < json->size(); ++i) {
      T element{};
      element_of((*json)[i], path_to(key) + "[" + std::to_string(i) + "]", element);
      field.push_back(std::move(element));
    }
    if (rule.non_empty && field.empty())
      complaints_.add(path_to(key), "found an empty list, allowed is one with at least one entry");
  }

  template <class T>

  requires std::is_class_v<T> &&(!Scalar<T>)void operator()(char const* key,
                                                            T& field,
                                                            Rule const&) {
    static Json const empty = Json::object();  // its fields may have no defaults
    auto const* const json = find(key);
    object(json != nullptr ? *json : empty, path_to(key), field);
  }

 private:
  template <class T>
  void object(Json const& json, std::string const& path, T& field) {
    if (!json.is_object()) {
      complaints_.add(path, "found " + json.dump() + ", allowed is an object");
      return;
    }
    Reader reader{json, path, directory_, complaints_};
    describe(reader, field);
    reader.finish();
  }

  template <class T>
  void element_of(Json const& json, std::string const& path, T& element) {
    if constexpr (Scalar<T>)
      scalar(json, path, element, {.doc = "", .non_empty = true});
    else
      object(json, path, element);
  }

  template <Scalar T>
  void scalar(Json const& json, std::string const& path, T& field, Rule const& rule) {
    if (!from_json(json, field)) {
      complaints_.add(path, "found " + json.dump() + ", allowed is " + allowed<T>());
      return;
    }
    if constexpr (Duration<T>)
      check_range(json, static_cast<double>(field.count()), path, rule);
    else if constexpr (std::is_arithmetic_v<T>)
      check_range(json, static_cast<double>(field), path, rule);
    else if constexpr (std::same_as<T, std::string>)
      check_text(field, path, rule);
  }

  Json const* find(char const* key);
  std::string path_to(std::string const& key) const;
  void check_range(Json const& json, double value, std::string const& path, Rule const& rule);
  /// Also makes a relative path absolute.
  void check_text(std::string& text, std::string const& path, Rule const& rule);

  Json const& json_;
  std::string path_;
  std::filesystem::path const& directory_;
  Complaints& complaints_;
  std::vector<std::string> asked_;
};

}  // namespace torchwatch::config
