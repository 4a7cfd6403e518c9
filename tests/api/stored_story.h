#pragma once

#include "storage/base/clock.h"
#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {

/// Always 2026-01-02T03:04:05Z.
class FixedClock final : public Clock {
 public:
  Timestamp now() const override { return early; }
};

/// Nightly 1 ("2026-01-01", commit aaa...) is done. Nightly 2 ("2026-01-02", commit bbb...) has two
/// verdicts, of which one is a regression; incident 1 tells it, and its bisection, bisection 1,
/// found commit ccc... by the first of its two steps. Bisection 2 was asked for by a person and
/// waits. Nightly 3 ("2026-01-03", commit ddd...) was only announced.
void store_story(storage::Store& store);

}  // namespace torchwatch::tests
