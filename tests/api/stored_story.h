#pragma once

#include "storage/base/clock.h"
#include "storage/store.h"
#include "tests/storage/samples.h"

namespace torchwatch::tests {

/// A clock that always returns 2026-01-02T03:04:05Z.
class FixedClock final : public Clock {
 public:
  Timestamp now() const override { return early; }
};

/// Stores three nightlies. Nightly 1 ("2026-01-01", commit aaa...) is done. Nightly 2
/// ("2026-01-02", commit bbb...) has two verdicts. One is a regression, with incident 1 and its
/// bisection 1, whose first of two steps found commit ccc... Bisection 2 was requested by a user
/// and is queued. Nightly 3 ("2026-01-03", commit ddd...) is only announced.
void store_story(storage::Store& store);

}  // namespace torchwatch::tests
