#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace torchwatch::process {

/// Whether a variable goes by one of `names`: a name, or the beginning of names before a '*'. What
/// looks like a secret by its name (TOKEN, SECRET, PASSWORD, CREDENTIAL, PRIVATE, API_KEY) must be
/// spelt out.
bool is_named(std::string_view variable, std::vector<std::string> const& names);

/// Variables of this process that a child gets: those that any program expects (PATH, HOME, the
/// locale, where temporary files go), and what goes by one of `names`.
std::map<std::string, std::string> inherited_variables(std::vector<std::string> const& names);

/// By which programs find the way out of a network: proxies and certificates.
std::vector<std::string> const& network_variables();

}  // namespace torchwatch::process
