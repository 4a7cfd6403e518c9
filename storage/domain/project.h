#pragma once

namespace torchwatch {

/// The web address of the watched project. Commits and pull requests are below it.
inline constexpr auto project_url = "https://github.com/pytorch/pytorch";

}  // namespace torchwatch
