#include "daemon/builds/published_digest.h"

#include <algorithm>

#include <boost/algorithm/string/case_conv.hpp>
#include <boost/algorithm/string/trim.hpp>

#include "storage/domain/digest.h"

namespace torchwatch::builds {

std::string digest_beside(std::string const& url) {
  auto const path_end = std::min(url.find_first_of("?#"), url.size());
  return url.substr(0, path_end) + ".sha256" + url.substr(path_end);
}

std::optional<std::string> sha256_in(std::string_view text) {
  auto const line = boost::trim_copy(std::string{text});
  if (line.find('\n') != std::string::npos) return std::nullopt;
  auto const digits_end = std::min(line.find(' '), line.size());
  auto digits = boost::to_lower_copy(line.substr(0, digits_end));
  if (!is_sha256(digits)) return std::nullopt;
  return digits;
}

}  // namespace torchwatch::builds
