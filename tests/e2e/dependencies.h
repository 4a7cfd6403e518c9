#pragma once

#include <cstddef>
#include <filesystem>
#include <string>

#include "tests/e2e/process.h"
#include "tests/e2e/world.h"

// Nightlies that are released one by one, and those that differ in the dependency that they are
// built or packed with.
namespace torchwatch::e2e {

/// Returns the options of a world in which no commit changes a series. Its builds can be packed
/// with a dependency.
WorldOptions world_with_dependency(bool real);

/// Makes this nightly the last one on the lab's nightly branch. `nightly` counts from 0.
void release_up_to(World& world, std::size_t nightly);

/// Makes a commit the last one on the lab's trunk.
void land_up_to(World& world, std::string const& commit);

/// Adds a nightly of `date` to the lab's nightly branch, with the trunk commit of `nightly`.
void release_again(World& world, nlohmann::json const& nightly, std::string const& date);

/// Makes later builds be packed with the dependency, or without it.
void pack_with_dependency(World const& world, bool with = true);

/// Builds a nightly of the lab with the lab's recipe into `prefix`. Throws when the recipe fails.
void build(World& world, nlohmann::json const& nightly, std::filesystem::path const& prefix);

/// Compares a finished `check --json` with the truth: it found the series that the dependency
/// changed, named the dependency, and no commit.
void expect_environment(World const& world, Finished const& check);

}  // namespace torchwatch::e2e
