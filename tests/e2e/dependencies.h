#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

// Nightlies that differ by what they are built or packed with.
namespace torchwatch::e2e {

/// A world in which no commit changes anything, and builds may be packed with a dependency.
WorldOptions world_with_dependency(bool real);

/// The lab's nightly branch ends with this one of its nightlies.
void release_up_to(World& world, std::size_t nightly);

/// The lab's nightly branch gets one nightly more, of that one's commit.
void release_again(World& world, nlohmann::json const& nightly, std::string const& date);

/// Whatever is built from now on is packed with the dependency, or without.
void pack_with_dependency(World const& world, bool with = true);

/// Builds a nightly of the lab by its recipe into `prefix`.
void build(World& world, nlohmann::json const& nightly, std::filesystem::path const& prefix);

/// Holds a finished `check --json` against the truth: the series that the dependency moved, no
/// commit accused, and the dependency named.
void expect_environment(World const& world, Finished const& check);

}  // namespace torchwatch::e2e
