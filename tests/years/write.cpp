#include "tests/years/write.h"

#include "tests/years/incident_writer.h"
#include "tests/years/night_writer.h"

namespace torchwatch::years {

Result<Written> write_years(Request const& request,
                            storage::Store& store,
                            std::filesystem::path const& state_dir,
                            std::function<void(std::size_t, std::size_t)> const& progress) {
  auto nights = nights_of(request);
  auto suite = suite_of(request, nights.size());
  if (!suite) return suite.error();
  History const history{request, std::move(nights), std::move(*suite)};
  IncidentWriter incidents{history, store, state_dir};
  auto const count = history.nights.size();
  for (std::size_t night = 0; night < count; ++night) {
    if (NightWriter{history, store, state_dir, night}.write()) incidents.write(night);
    progress(night + 1, count);
  }
  incidents.finish();
  auto const& measured = history.plan.suite;
  return Written{count, measured.series.size(), measured.models, measured.fleets};
}

}  // namespace torchwatch::years
