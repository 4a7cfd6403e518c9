#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::process {

/// True when `variable` matches one of `names`: a full name, or a prefix that ends with '*'. Names
/// that suggest a secret (TOKEN, SECRET, PASSWORD, CREDENTIAL, PRIVATE, API_KEY) match only when
/// spelled out in full.
bool is_named(std::string_view variable, std::vector<std::string> const& names);

/// Returns the variables of this process that a child gets: those that any program expects (PATH,
/// HOME, the locale, the directory of temporary files), and those that match one of `names`.
std::map<std::string, std::string> inherited_variables(std::vector<std::string> const& names);

/// Names of the variables for proxies and certificates, which programs need to leave a network.
std::vector<std::string> const& network_variables();

}  // namespace torchwatch::process
