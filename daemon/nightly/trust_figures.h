#pragma once

#include "storage/store.h"

namespace torchwatch::nightly {

/// Computes and stores the figures of the Trust page: from the last trust_nights nightlies of all
/// series, self-comparisons, and the verdicts of the last costed_nights. So requests read them
/// without reading all nightly summaries. Takes tenths of a second for a thousand series.
void keep_trust_figures(storage::Store& store);

/// Computes the figures of incidents, and stores them if they changed. Call it after the events of
/// incidents were stored.
void keep_incident_months(storage::Store& store);

}  // namespace torchwatch::nightly
