#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/locate.h"
#include "storage/base/result.h"

namespace torchwatch::config {

/// The errors in a configuration file, with their places.
class Complaints {
 public:
  Complaints(std::string file, Locations locations);

  /// Adds the line "FILE:LINE: PATH: WHAT". `path`: of a key or entry, which may be missing.
  void add(std::string const& path, std::string const& what);
  /// Adds a line in the usual form: "found ..., allowed is ...".
  void add(std::string const& path, std::string const& found, std::string const& allowed);

  bool empty() const { return lines_.empty(); }

  /// True when there is a complaint about `path` or a key or entry inside it.
  bool about(std::string_view path) const;

  /// Returns all complaints, "FILE:LINE: PATH: WHAT", a line each, in the order of the file.
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
