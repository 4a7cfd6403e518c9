#include "fetch/marker.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <optional>
#include <vector>

#include "fetch/requirement.h"
#include "fetch/version.h"
#include "storage/base/printable.h"

namespace torchwatch::fetch {
namespace {

constexpr int deepest = 50;

struct Bad {
  std::string what;
};

/// A token of a marker.
struct Token {
  enum class Kind { name, text, sign, end };

  Kind kind = Kind::end;
  std::string text;
};

std::map<std::string, std::string> values_of(MarkerEnvironment const& environment) {
  return {{"os_name", "posix"},
          {"sys_platform", "linux"},
          {"platform_system", "Linux"},
          {"platform_machine", environment.machine},
          {"platform_python_implementation", "CPython"},
          {"platform_release", ""},
          {"platform_version", ""},
          {"implementation_name", "cpython"},
          {"implementation_version", environment.python + ".0"},
          {"python_version", environment.python},
          {"python_full_version", environment.python + ".0"}};
}

/// Returns the quoted text at the beginning of `marker`.
Token quoted_text(std::string_view marker) {
  auto const end = marker.find(marker.front(), 1);
  if (end == std::string_view::npos) throw Bad{"a text without its closing quote"};
  return {Token::Kind::text, std::string{marker.substr(1, end - 1)}};
}

/// Returns the token at the beginning of `marker`, which must not begin with a blank.
Token first_token(std::string_view marker) {
  constexpr std::array<std::string_view, 10> health{
      "===", "==", "!=", "<=", ">=", "~=", "<", ">", "(", ")"};
  constexpr std::string_view in_names =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.";
  if (marker.front() == '"' || marker.front() == '\'') return quoted_text(marker);
  for (auto const sign : health)
    if (marker.starts_with(sign)) return {Token::Kind::sign, std::string{sign}};
  auto const name = marker.substr(0, marker.find_first_not_of(in_names));
  if (name.empty()) throw Bad{"the character '" + std::string{marker.substr(0, 1)} + "'"};
  return {Token::Kind::name, std::string{name}};
}

std::vector<Token> tokens_of(std::string_view marker) {
  constexpr std::size_t quotes = 2;
  std::vector<Token> tokens;
  while (true) {
    marker.remove_prefix(std::min(marker.find_first_not_of(" \t\r\n"), marker.size()));
    if (marker.empty()) break;
    tokens.push_back(first_token(marker));
    auto const& [kind, text] = tokens.back();
    marker.remove_prefix(text.size() + (kind == Token::Kind::text ? quotes : 0));
  }
  tokens.emplace_back();
  return tokens;
}

/// Compares two texts as versions if both are versions, else as strings.
bool compare(std::string const& left, std::string const& comparison, std::string const& right) {
  if (comparison == "in") return right.find(left) != std::string::npos;
  if (comparison == "not in") return right.find(left) == std::string::npos;
  auto const version = Version::parse(left);
  auto const range = VersionRange::parse(comparison + right);
  if (version && range) return range->holds(*version);
  if (comparison == "==" || comparison == "===") return left == right;
  if (comparison == "!=") return left != right;
  if (comparison == "<") return left < right;
  if (comparison == "<=") return left <= right;
  if (comparison == ">") return left > right;
  if (comparison == ">=") return left >= right;
  throw Bad{"\"" + comparison + "\" between texts"};
}

/// Parses and evaluates a marker: an OR of ANDs of comparisons and brackets.
class Reader {
 public:
  Reader(std::vector<Token> tokens, MarkerEnvironment const& environment)
      : tokens_{std::move(tokens)},
        values_{values_of(environment)},
        extras_{environment.extras} {}

  bool read() {
    bool const holds = any_of();
    if (next().kind != Token::Kind::end) throw Bad{"\"" + next().text + "\" after its end"};
    return holds;
  }

 private:
  Token const& next() const { return tokens_[at_]; }

  Token take() { return tokens_[next().kind == Token::Kind::end ? at_ : at_++]; }

  bool take_if(Token::Kind kind, std::string_view text) {
    if (next().kind != kind || next().text != text) return false;
    ++at_;
    return true;
  }

  bool any_of() {
    bool holds = all_of();
    while (take_if(Token::Kind::name, "or"))
      holds = all_of() || holds;
    return holds;
  }

  bool all_of() {
    bool holds = one();
    while (take_if(Token::Kind::name, "and"))
      holds = one() && holds;
    return holds;
  }

  bool one() {
    if (!take_if(Token::Kind::sign, "(")) return comparison();
    if (++depth_ > deepest) throw Bad{"too many brackets"};
    bool const holds = any_of();
    if (!take_if(Token::Kind::sign, ")")) throw Bad{"a bracket that is not closed"};
    --depth_;
    return holds;
  }

  bool comparison() {
    auto const left = take();
    auto const sign = take_comparison();
    auto const right = take();
    if (is_extra(left) || is_extra(right)) return compare_extra(left, sign, right);
    return compare(value_of(left), sign, value_of(right));
  }

  std::string take_comparison() {
    auto const token = take();
    if (token.kind == Token::Kind::sign && token.text != "(" && token.text != ")")
      return token.text;
    if (token.kind == Token::Kind::name && token.text == "in") return "in";
    if (token.kind == Token::Kind::name && token.text == "not" && take_if(Token::Kind::name, "in"))
      return "not in";
    throw Bad{"\"" + token.text + "\" in the place of a comparison"};
  }

  static bool is_extra(Token const& token) {
    return token.kind == Token::Kind::name && token.text == "extra";
  }

  bool compare_extra(Token const& left, std::string const& sign, Token const& right) const {
    auto const& name = is_extra(left) ? right : left;
    if (name.kind != Token::Kind::text || (sign != "==" && sign != "!="))
      throw Bad{"an extra that is not compared with a name"};
    return extras_.contains(canonical_name(name.text)) == (sign == "==");
  }

  std::string value_of(Token const& token) const {
    if (token.kind == Token::Kind::text) return token.text;
    auto const known = values_.find(token.text);
    if (token.kind != Token::Kind::name || known == values_.end())
      throw Bad{"\"" + token.text + "\", which is not a variable"};
    return known->second;
  }

  std::vector<Token> tokens_;
  std::map<std::string, std::string> values_;
  std::set<std::string> const& extras_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

Result<bool> marker_holds(std::string_view marker, MarkerEnvironment const& environment) {
  try {
    auto tokens = tokens_of(marker);
    if (tokens.size() == 1) return true;
    return Reader{std::move(tokens), environment}.read();
  } catch (Bad const& bad) {
    return Error{ErrorCode::invalid_argument,
                 "marker \"" + printable(marker, 100) + "\": found " + printable(bad.what, 100)};
  }
}

}  // namespace torchwatch::fetch
