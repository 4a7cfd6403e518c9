#pragma once

namespace torchwatch {

/// Where commits and pull requests of the watched project are shown.
inline constexpr auto project_url = "https://github.com/pytorch/pytorch";

}  // namespace torchwatch
