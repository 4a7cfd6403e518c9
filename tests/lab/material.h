#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "storage/base/result.h"

namespace torchwatch::lab {

/// What somebody could send to the trunk: a patch against tree/.
struct Change {
  std::string subject;  ///< without "(#N)"
  std::string body;     ///< without trailers
  std::string diff;     ///< unified
};

struct Person {
  std::string name;
  std::string email;
  std::string login;
};

/// What histories are made of: the files beside scenarios/.
struct Material {
  std::filesystem::path tree;          ///< the files of the first commit
  std::filesystem::path recipe;        ///< absolute
  std::filesystem::path dependencies;  ///< sources of what builds may be packed with
  std::map<std::string, Change>
      changes;  ///< by path below changes/ without ".patch": "harmless/NAME"
  std::vector<Person> people;
  Person bot;                               ///< lands reverts and releases nightlies
  std::vector<std::string> revert_reasons;  ///< what may follow "due to"
  std::string script;  ///< scripted.json: what the scripted worker pretends, as JSON
};

/// Reads everything. Fails with not_found or corrupt; the message names the file.
Result<Material> load_material(std::filesystem::path const& folder);

}  // namespace torchwatch::lab
