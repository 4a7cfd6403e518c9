#pragma once

#include <cstddef>
#include <string_view>

/// Rules for the values of a field, in addition to its type.
namespace torchwatch::config {

/// The meaning of a text. Paths are made absolute; all except `path` must exist. `address`:
/// numeric, or of a Unix socket (address.h).
enum class Form { text, address, path, directory, file, executable };

/// The allowed form of a text.
struct Pattern {
  std::string_view expression = {};  ///< ECMAScript regular expression of the whole text
  std::string_view meaning = {};     ///< description for people
};

/// A part of a benchmark's name. It has no '-' or brackets, because they separate the parts.
inline constexpr Pattern benchmark_word{"[A-Za-z0-9_.]+", "a name of letters, digits, _ and ."};
inline constexpr Pattern test_word{"[a-z0-9_]{1,31}", "a name of a to z, digits and _"};
inline constexpr Pattern metric_word{"[A-Za-z0-9_]+", "a name of letters, digits and _"};
inline constexpr Pattern unit_word{"[A-Za-z0-9%/._ -]{1,32}",
                                   "a unit of letters, digits, %, /, ., _, - and spaces"};
inline constexpr Pattern fleet_word{"[A-Za-z0-9_][A-Za-z0-9_.-]*",
                                    "a name of letters, digits, _, . and -"};
inline constexpr Pattern branch_word{"[A-Za-z0-9_][A-Za-z0-9_./-]*", "a branch's name"};
inline constexpr Pattern remote_word{"[A-Za-z0-9_][A-Za-z0-9_./-]*", "a remote's name"};
inline constexpr Pattern owner_and_name{"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+", "owner/name"};
inline constexpr Pattern https_root{
    R"(https://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*)",
    "https://HOST[:PORT][/PATH] without a / at the end"};
inline constexpr Pattern https_address{
    R"(https://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~%!$&()*+,;=:@/?-]*)?)",
    "https://HOST[:PORT][/PATH][?QUERY]"};
inline constexpr Pattern email_address{
    R"([A-Za-z0-9._%+-]+@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?)", "NAME@DOMAIN"};
inline constexpr Pattern web_root{
    R"(https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?(/[A-Za-z0-9._~-]+)*)",
    "http(s)://HOST[:PORT][/PATH] without a / at the end"};
inline constexpr Pattern proxy_root{R"(http://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\]):[0-9]{1,5})",
                                    "http://HOST:PORT"};
inline constexpr Pattern except_word{
    R"([*]|[A-Za-z0-9.-]+|[0-9A-Fa-f:.]+(/[0-9]{1,3})?)",
    "a host, .DOMAIN, an address, a network as ADDRESS/BITS, or *"};
inline constexpr Pattern absolute_path{"/.*", "an absolute path"};
inline constexpr Pattern variable_word{"[A-Za-z_][A-Za-z0-9_]*[*]?",
                                       "a variable's name, or its beginning and *"};
inline constexpr Pattern gpu_word{"all|[0-9]{1,3}|(GPU|MIG)-[0-9A-Za-z/-]+",
                                  "an index, GPU-UUID, MIG-UUID, or all"};
inline constexpr Pattern host_word{"[a-z0-9][a-z0-9.-]*", "a host's name in lower case"};
inline constexpr Pattern commit_place{
    R"((https?://([A-Za-z0-9.-]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{1,5})?)?/.*\{commit\}.*)",
    "an absolute path or http(s)://HOST[:PORT]/PATH with {commit} in it"};
inline constexpr Pattern variable{"[A-Za-z_][A-Za-z0-9_]*", "an environment variable's name"};

/// The largest whole number that all JSON readers represent exactly.
inline constexpr double largest = 9007199254740991;

/// The longest text with a pattern. std::regex uses stack for every character.
inline constexpr std::size_t longest_match = 256;

struct Rule {
  std::string_view doc = {};
  double minimum = 0;      ///< smallest allowed number
  double maximum = 0;      ///< largest allowed number
  bool non_empty = false;  ///< the text or list must not be empty
  bool distinct = false;   ///< the list must not have equal entries
  Form form = Form::text;
  Pattern pattern = {};  ///< for the text, each text in the list, or each name in the map
};

constexpr Rule plain(std::string_view doc) {
  return {.doc = doc};
}

constexpr Rule filled(std::string_view doc) {
  return {.doc = doc, .non_empty = true};
}

constexpr Rule range(std::string_view doc, double minimum, double maximum) {
  return {.doc = doc, .minimum = minimum, .maximum = maximum};
}

constexpr Rule naming(std::string_view doc, Form form) {
  return {.doc = doc, .form = form};
}

constexpr Rule matching(std::string_view doc, Pattern pattern) {
  return {.doc = doc, .pattern = pattern};
}

/// Returns `rule` for a field that must not be empty. Without a default it is required.
constexpr Rule needed(Rule rule) {
  rule.non_empty = true;
  return rule;
}

constexpr Rule distinct(Rule rule) {
  rule.distinct = true;
  return rule;
}

/// Returns the rule for each entry of a list with `rule`.
constexpr Rule of_entry(Rule const& rule) {
  return needed(matching({}, rule.pattern));
}

}  // namespace torchwatch::config
