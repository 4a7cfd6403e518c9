#include "config/locate.h"

#include <cstddef>
#include <iterator>
#include <set>

#include <nlohmann/json.hpp>

namespace torchwatch::config {
namespace {

/// Counts the lines that the parser has taken in.
class LineCounter {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = char const*;
  using reference = char const&;

  LineCounter(char const* at, int* line) : at_{at}, line_{line} {}

  char const& operator*() const { return *at_; }

  LineCounter& operator++() {
    if (*at_ == '\n') ++*line_;
    ++at_;
    return *this;
  }

  bool operator==(LineCounter const& other) const { return at_ == other.at_; }

  bool operator!=(LineCounter const& other) const { return at_ != other.at_; }

 private:
  char const* at_;
  int* line_;
};

/// Hears the parser's events and keeps the path of where it is.
class Walker : public nlohmann::json_sax<nlohmann::json> {
 public:
  Walker(Locations& locations, int const& line) : locations_{locations}, line_{line} {}

  bool null() override { return value(); }

  bool boolean(bool) override { return value(); }

  bool number_integer(number_integer_t) override { return value(); }

  bool number_unsigned(number_unsigned_t) override { return value(); }

  bool number_float(number_float_t, string_t const&) override { return value(); }

  bool string(string_t&) override { return value(); }

  bool binary(binary_t&) override { return value(); }

  bool start_object(std::size_t) override { return enter(false); }

  bool start_array(std::size_t) override { return enter(true); }

  bool end_object() override { return leave(); }

  bool end_array() override { return leave(); }

  bool key(string_t& name) override {
    auto& level = levels_.back();
    level.member = level.path.empty() ? name : level.path + "." + name;
    if (!level.seen.insert(name).second) locations_.duplicates.push_back(level.member);
    locations_.line_of[level.member] = line_;
    return true;
  }

  bool parse_error(std::size_t, std::string const&, nlohmann::json::exception const&) override {
    return false;
  }

 private:
  struct Level {
    std::string path;
    bool is_array = false;
    std::size_t next = 0;
    std::string member;
    std::set<std::string> seen;
  };

  /// The path of the value that begins here.
  std::string begin() {
    if (levels_.empty()) return "";
    auto& level = levels_.back();
    if (!level.is_array) return level.member;
    auto path = level.path + "[" + std::to_string(level.next++) + "]";
    locations_.line_of[path] = line_;
    return path;
  }

  bool value() {
    begin();
    return true;
  }

  bool enter(bool is_array) {
    levels_.push_back({begin(), is_array, 0, {}, {}});
    return true;
  }

  bool leave() {
    levels_.pop_back();
    return true;
  }

  Locations& locations_;
  int const& line_;
  std::vector<Level> levels_;
};

}  // namespace

Locations locate(std::string const& text) {
  Locations locations;
  locations.line_of[""] = 1;
  int line = 1;
  Walker walker{locations, line};
  nlohmann::json::sax_parse(LineCounter{text.data(), &line},
                            LineCounter{text.data() + text.size(), &line},
                            &walker,
                            nlohmann::json::input_format_t::json,
                            true,
                            true);
  return locations;
}

}  // namespace torchwatch::config
