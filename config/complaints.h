#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/locate.h"
#include "storage/base/result.h"

namespace torchwatch::config {

/// What is wrong with a file, and where.
class Complaints {
 public:
  Complaints(std::string file, Locations locations);

  /// `path` is that of a key or an entry, present or not; `what` follows it.
  void add(std::string const& path, std::string const& what);
  /// The usual form: "found ..., allowed is ...".
  void add(std::string const& path, std::string const& found, std::string const& allowed);

  bool empty() const { return lines_.empty(); }

  /// Whether something is wrong with what stands at `path` or inside it.
  bool about(std::string_view path) const;

  /// All of them, "FILE:LINE: PATH: WHAT", a line each, in the order of the file.
  Error error() const;

 private:
  struct Line {
    int number = 0;
    std::string path;
    std::string text;
  };

  std::string file_;
  Locations locations_;
  std::vector<Line> lines_;
};

}  // namespace torchwatch::config
