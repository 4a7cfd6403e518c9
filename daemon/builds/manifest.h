#pragma once

#include <filesystem>

#include "storage/base/result.h"
#include "storage/domain/build.h"

namespace torchwatch::builds {

/// Reads `build.json` of a prefix. Relative `preload` paths are made absolute. Errors name the
/// file, the field, what was found and what is allowed.
Result<Build> read_build(std::filesystem::path const& prefix);

/// The build of a nightly. Corrupt when another commit's lies there by now: whoever delivers builds
/// may write over them. Else as read_build.
Result<Build> read_build_of(Nightly const& nightly);

/// Writes `build.json` of a prefix, whole or not at all, and returns the build. Fails with
/// unavailable when the disk does.
Result<Build> write_build(std::filesystem::path const& prefix, BuildManifest const& manifest);

}  // namespace torchwatch::builds
