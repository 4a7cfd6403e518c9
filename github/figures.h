#pragma once

#include <optional>
#include <string>

#include "storage/domain/comparison.h"

/// Numbers as people read them. Pure.
namespace torchwatch::github {

/// A level with its unit: "12.34 ms", "812.25 MiB", "1.50 KiB/iteration".
std::string level_of(Metric metric, double value);

/// A ratio as a change: 1.07 is "+7.0%".
std::string percent_change(double ratio);

/// "[+5.1%, +7.9%]", or "-" where there is no ratio.
std::string interval_of(std::optional<RatioInterval> const& ratio);

/// "+7.0%", or the step itself where the old level is zero: "from 0 to 1.50 KiB/iteration".
std::string change_of(Metric metric, Comparison const& comparison);

/// A part of a whole: 0.6 is "60%".
std::string share_of(double part);

/// "71.0%", and never none or all: "more than 99.9%".
std::string probability_of(double probability);

}  // namespace torchwatch::github
