#include "runner/process/environment.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <unistd.h>

namespace torchwatch::process {

namespace {

/// Variables that any program expects. The last four configure the output of sanitizers and of
/// coverage.
std::vector<std::string> const expected{"PATH",
                                        "HOME",
                                        "USER",
                                        "LOGNAME",
                                        "SHELL",
                                        "LANG",
                                        "LANGUAGE",
                                        "LC_*",
                                        "TZ",
                                        "TMPDIR",
                                        "ASAN_OPTIONS",
                                        "LSAN_OPTIONS",
                                        "UBSAN_OPTIONS",
                                        "LLVM_PROFILE_FILE"};

bool sounds_secret(std::string_view variable) {
  constexpr std::array<std::string_view, 6> words{
      "TOKEN", "SECRET", "PASSWORD", "CREDENTIAL", "PRIVATE", "API_KEY"};
  std::string upper{variable};
  std::ranges::transform(upper, upper.begin(), [](unsigned char c) { return std::toupper(c); });
  return std::ranges::any_of(
      words, [&](std::string_view word) { return upper.find(word) != std::string::npos; });
}

}  // namespace

bool is_named(std::string_view variable, std::vector<std::string> const& names) {
  return std::ranges::any_of(names, [&](std::string_view name) {
    if (!name.ends_with('*')) return variable == name;
    name.remove_suffix(1);
    return variable.starts_with(name) && !sounds_secret(variable);
  });
}

std::map<std::string, std::string> inherited_variables(std::vector<std::string> const& names) {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    std::string_view const text{*entry};
    auto const equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    auto const name = text.substr(0, equals);
    if (is_named(name, expected) || is_named(name, names))
      variables.emplace(name, text.substr(equals + 1));
  }
  return variables;
}

std::vector<std::string> const& network_variables() {
  static std::vector<std::string> const names{"http_proxy",
                                              "https_proxy",
                                              "all_proxy",
                                              "no_proxy",
                                              "HTTP_PROXY",
                                              "HTTPS_PROXY",
                                              "ALL_PROXY",
                                              "NO_PROXY",
                                              "SSL_CERT_FILE",
                                              "SSL_CERT_DIR"};
  return names;
}

}  // namespace torchwatch::process
