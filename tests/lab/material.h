#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::lab {

/// A change that can land on the trunk: a patch against tree/, with its message.
struct Change {
  std::string subject;  ///< without "(#N)"
  std::string body;     ///< without trailers
  std::string diff;     ///< unified
};

/// A fictional developer.
struct Person {
  std::string name;
  std::string email;
  std::string login;
};

/// The data from which histories are generated: the files next to scenarios/.
struct Material {
  std::filesystem::path tree;          ///< the files of the first commit
  std::filesystem::path recipe;        ///< absolute path
  std::filesystem::path dependencies;  ///< sources of dependencies
  /// Changes, by path below changes/ without ".patch": "harmless/NAME".
  std::map<std::string, Change> changes;
  std::vector<Person> people;
  Person bot;                               ///< commits reverts and releases nightlies
  std::vector<std::string> revert_reasons;  ///< texts after "due to"
  std::string script;                       ///< scripted.json: numbers of the scripted worker
};

/// Reads the material. Fails with not_found or corrupt; the message names the file.
Result<Material> load_material(std::filesystem::path const& folder);

}  // namespace torchwatch::lab
