#pragma once

#include "storage/store.h"

namespace torchwatch::nightly {

/// Works out the figures of the Trust page from the last trust_nights nights of all series, the
/// comparisons of builds with themselves, and the verdicts of the last costed_nights, and stores
/// them: answers read them, and walk through no nights. Takes tenths of a second for a thousand
/// series.
void keep_trust_figures(storage::Store& store);

}  // namespace torchwatch::nightly
