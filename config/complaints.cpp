#include "config/complaints.h"

#include <algorithm>
#include <utility>

#include "storage/base/printable.h"

namespace torchwatch::config {

Complaints::Complaints(std::string file, Locations locations)
    : file_{std::move(file)},
      locations_{std::move(locations)} {}

void Complaints::add(std::string const& path, std::string const& what) {
  auto at = path;
  while (!locations_.line_of.contains(at)) {  // a missing key has the line of its object
    auto const end = at.find_last_of(".[");
    at.resize(end == std::string::npos ? 0 : end);
  }
  auto text = printable((path.empty() ? "" : path + ": ") + what);
  lines_.push_back({locations_.line_of.at(at), path, std::move(text)});
}

void Complaints::add(std::string const& path,
                     std::string const& found,
                     std::string const& allowed) {
  add(path, "found " + found + ", allowed is " + allowed);
}

bool Complaints::about(std::string_view path) const {
  return std::ranges::any_of(lines_, [&](Line const& line) {
    if (!line.path.starts_with(path)) return false;
    auto const rest = std::string_view{line.path}.substr(path.size());
    return rest.empty() || rest.front() == '.' || rest.front() == '[';
  });
}

Error Complaints::error() const {
  auto lines = lines_;
  std::ranges::stable_sort(
      lines, [](Line const& left, Line const& right) { return left.number < right.number; });
  Error error{ErrorCode::invalid_argument, ""};
  for (auto const& line : lines) {
    if (!error.message.empty()) error.message += "\n";
    error.message += file_ + ":" + std::to_string(line.number) + ": " + line.text;
  }
  return error;
}

}  // namespace torchwatch::config
