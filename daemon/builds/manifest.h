#pragma once

#include <filesystem>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Reads `build.json` of a prefix. Relative `preload` paths become absolute. Errors name the file,
/// the field, the value and the allowed values.
Result<Build> read_build(std::filesystem::path const& prefix);

/// Reads the build of a nightly. Fails with corrupt when the prefix now holds another commit, since
/// a feed may overwrite its builds. Otherwise fails as read_build does.
Result<Build> read_build_of(Nightly const& nightly);

/// Writes `build.json` of a prefix atomically, and returns the build. Fails with unavailable when
/// the disk does.
Result<Build> write_build(std::filesystem::path const& prefix, BuildManifest const& manifest);

}  // namespace torchwatch::builds
