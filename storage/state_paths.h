#pragma once

#include <string>

namespace torchwatch::storage {

class Database;

// The paths of files below the directory of the database are stored relative to it, with "./" in
// front: "./builds/nightly-7/libtorch". So the state can be moved, copied, or restored elsewhere,
// and a copy never uses the files of the original. All other texts (other paths, URLs) are stored
// as they are.

/// Returns the text to store for a path.
std::string stored_path(Database& database, std::string const& path);

/// Returns the path of a stored text. It is the inverse of stored_path() for normalized paths.
std::string path_of(Database& database, std::string const& stored);

}  // namespace torchwatch::storage
