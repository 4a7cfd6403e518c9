#include "config/locate.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>

#include <nlohmann/json.hpp>

namespace torchwatch::config {
namespace {

/// The deepest nesting that is read, more than any configuration needs. It keeps paths short.
constexpr std::size_t deepest = 16;

/// The longest quote of invalid text in a message.
constexpr std::size_t longest_last_read = 160;

/// An iterator over a text that stores the position of the last character read.
class Reading {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = char const*;
  using reference = char const&;

  Reading(char const* at, char const** taken) : at_{at}, taken_{taken} {}

  char const& operator*() const { return *at_; }

  Reading& operator++() {
    *taken_ = at_++;
    return *this;
  }

  bool operator==(Reading const& other) const { return at_ == other.at_; }

  bool operator!=(Reading const& other) const { return at_ != other.at_; }

 private:
  char const* at_;
  char const** taken_;
};

/// Returns "LINE:COLUMN" of a character, counted from 1.
std::string place_of(std::string_view text, std::size_t at) {
  auto const before = text.substr(0, at);
  auto const line = 1 + std::count(before.begin(), before.end(), '\n');
  auto const newline = before.rfind('\n');
  auto const begin = newline == std::string_view::npos ? 0 : newline + 1;
  return std::to_string(line) + ":" + std::to_string(before.size() - begin + 1);
}

/// Returns the parser's message without its prefix and line number. Replaces bytes that are not
/// printable ASCII by '?'.
std::string words_of(nlohmann::json::exception const& error) {
  std::string what = error.what();
  auto const syntax = what.find("syntax error");
  auto const name_end = what.find("] ");
  if (syntax != std::string::npos)
    what.erase(0, syntax);
  else if (name_end != std::string::npos)
    what.erase(0, name_end + 2);
  auto const quote = what.find("; last read: '");
  auto const expected = std::min(what.rfind("; expected"), what.size());
  if (quote < expected && expected - quote > longest_last_read) what.erase(quote, expected - quote);
  std::ranges::replace_if(
      what, [](char byte) { return byte < ' ' || byte > '~'; }, '?');
  return what;
}

/// The handler of the parser's events. It keeps the path of the current value.
class Walker : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit Walker(std::string_view text)
      : text_{text},
        taken_{text.data()},
        counted_{text.data()} {}

  /// Parses the text. Returns false when it is invalid; `failure` then has the place and the
  /// reason.
  bool walk() {
    return nlohmann::json::sax_parse(Reading{text_.data(), &taken_},
                                     Reading{text_.data() + text_.size(), &taken_},
                                     this,
                                     nlohmann::json::input_format_t::json,
                                     true,
                                     true);
  }

  Locations locations{{{"", 1}}, {}};
  std::string failure;

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
    level.member = member_path(level.path, name);
    if (!level.seen.insert(name).second) locations.duplicates.push_back(level.member);
    locations.line_of[level.member] = line();
    return true;
  }

  bool parse_error(std::size_t position,
                   std::string const&,
                   nlohmann::json::exception const& error) override {
    failure = place_of(text_, position == 0 ? 0 : position - 1) + ": " + words_of(error);
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

  /// Returns the line of the last character read. After a number this is the character behind it,
  /// which can be the newline of the number's line.
  int line() {
    line_ += static_cast<int>(std::count(counted_, taken_, '\n'));
    counted_ = taken_;
    return line_;
  }

  /// Returns the path of the value that begins here.
  std::string begin() {
    if (levels_.empty()) return "";
    auto& level = levels_.back();
    if (!level.is_array) return level.member;
    auto path = level.path + "[" + std::to_string(level.next++) + "]";
    locations.line_of[path] = line();
    return path;
  }

  bool value() {
    begin();
    return true;
  }

  bool enter(bool is_array) {
    if (levels_.size() == deepest) {
      failure = place_of(text_, static_cast<std::size_t>(taken_ - text_.data())) +
                ": found more than " + std::to_string(deepest) + " levels, allowed is fewer";
      return false;
    }
    levels_.push_back({begin(), is_array, 0, {}, {}});
    return true;
  }

  bool leave() {
    levels_.pop_back();
    return true;
  }

  std::string_view text_;
  char const* taken_;
  char const* counted_;
  int line_ = 1;
  std::vector<Level> levels_;
};

bool is_plain(std::string const& key) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$";
  return !key.empty() && key.find_first_not_of(plain) == std::string::npos;
}

}  // namespace

std::string member_path(std::string const& object, std::string const& key) {
  if (!is_plain(key)) return object + "[" + nlohmann::json(key).dump() + "]";
  return object.empty() ? key : object + "." + key;
}

Result<Locations> locate(std::string const& file, std::string const& text) {
  Walker walker{text};
  if (!walker.walk()) return Error{ErrorCode::invalid_argument, file + ":" + walker.failure};
  return std::move(walker.locations);
}

}  // namespace torchwatch::config
