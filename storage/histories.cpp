#include "storage/histories.h"

#include <cstdint>
#include <string>
#include <utility>

#include "storage/database.h"
#include "storage/domain/campaign.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

/// The summaries of a nightly's own processes. The level is the median: the middle value, or the
/// mean of the two middle ones.
constexpr auto insert_nights = R"sql(
INSERT OR REPLACE INTO night (series_id, nightly_id, level, low, high, processes, verdict,
                              fingerprint_id)
SELECT series.id, nightly, avg(value) FILTER (WHERE place IN ((count + 1) / 2, (count + 2) / 2)),
       min(value), max(value), count,
       (SELECT verdict FROM comparison
        WHERE nightly_id = nightly AND comparison.fleet = ranked.fleet
          AND comparison.benchmark = ranked.benchmark AND comparison.metric = ranked.metric),
       max(fingerprint_id)
FROM (SELECT nightly.id AS nightly, fleet, benchmark, metric, value, fingerprint_id,
             row_number() OVER (PARTITION BY fleet, benchmark, metric ORDER BY value) AS place,
             count(*) OVER (PARTITION BY fleet, benchmark, metric) AS count
      FROM nightly
      JOIN job ON campaign = ? || nightly.id AND job.commit_sha = nightly.commit_sha
      JOIN result ON result.job_id = job.id
      WHERE nightly.id = ?) AS ranked
JOIN series USING (fleet, benchmark, metric)
GROUP BY series.id
)sql";

/// Marks a summary as judged when one round measured the series on the nightly and its baseline. A
/// nightly of its baseline's commit is judged when its baseline was.
constexpr auto mark_judged_nights = R"sql(
UPDATE night SET is_judged = (
  SELECT CASE
    WHEN night.verdict = 'inconclusive' THEN 0
    WHEN baseline.id IS NULL THEN 1
    WHEN baseline.commit_sha = nightly.commit_sha THEN coalesce(
      (SELECT earlier.is_judged FROM night AS earlier
       WHERE earlier.series_id = night.series_id AND earlier.nightly_id = baseline.id), 0)
    ELSE EXISTS (
      SELECT 1 FROM job AS own JOIN result AS its_own
        ON its_own.job_id = own.id AND its_own.metric = series.metric
      JOIN job AS other ON other.campaign = own.campaign AND other.fleet = own.fleet
        AND other.benchmark = own.benchmark AND other.commit_sha = baseline.commit_sha
        AND other.round = own.round
      JOIN result AS its_other ON its_other.job_id = other.id AND its_other.metric = series.metric
      WHERE own.campaign = ? || nightly.id AND own.fleet = series.fleet
        AND own.benchmark = series.benchmark AND own.commit_sha = nightly.commit_sha)
    END
  FROM nightly JOIN series ON series.id = night.series_id
  LEFT JOIN series_baseline AS older ON older.nightly_id = nightly.id
    AND older.fleet = series.fleet AND older.benchmark = series.benchmark
    AND older.metric = series.metric
  LEFT JOIN nightly AS baseline
    ON baseline.id = coalesce(older.baseline_id, nightly.baseline_id)
  WHERE nightly.id = night.nightly_id)
WHERE nightly_id = ?
)sql";

NightOfSeries read_night(SQLite::Statement& row) {
  NightOfSeries night;
  night.nightly.value = row.getColumn(0).getInt64();
  night.date = row.getColumn(1).getString();
  night.commit.hex = row.getColumn(2).getString();
  night.level = row.getColumn(3).getDouble();
  night.low = row.getColumn(4).getDouble();
  night.high = row.getColumn(5).getDouble();
  night.processes = row.getColumn(6).getInt();
  if (!row.getColumn(7).isNull()) night.verdict = read_word(row.getColumn(7), parse_verdict);
  night.host = row.getColumn(8).getInt64();
  night.is_judged = row.getColumn(9).getInt() != 0;
  return night;
}

}  // namespace

void Histories::keep(NightlyId nightly) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  Statement series{database_,
                   "INSERT OR IGNORE INTO series (fleet, benchmark, metric) "
                   "SELECT DISTINCT fleet, benchmark, metric FROM nightly "
                   "JOIN job ON campaign = ? || nightly.id AND job.commit_sha = nightly.commit_sha "
                   "JOIN result ON result.job_id = job.id WHERE nightly.id = ?"};
  std::string const campaign{nightly_campaign_prefix};
  bind_all(series, campaign, nightly.value);
  series.exec();
  Statement nights{database_, insert_nights};
  bind_all(nights, campaign, nightly.value);
  nights.exec();
  Statement judged{database_, mark_judged_nights};
  bind_all(judged, campaign, nightly.value);
  judged.exec();
  transaction.commit();
}

std::vector<Series> Histories::series() const {
  Statement query{database_,
                  "SELECT fleet, benchmark, metric FROM series ORDER BY fleet, benchmark, metric"};
  return read_all(query, [](SQLite::Statement& row) { return read_series(row, 0); });
}

std::vector<NightOfSeries> Histories::of(Series const& series) const {
  constexpr int all = -1;
  return newest(series, all);
}

std::vector<NightOfSeries> Histories::newest(Series const& series, int count) const {
  Statement query{database_,
                  "SELECT nightly.id, date, commit_sha, level, low, high, processes, verdict, "
                  "fingerprint_id, is_judged FROM (SELECT * FROM night WHERE series_id = "
                  "(SELECT id FROM series WHERE fleet = ? AND benchmark = ? AND metric = ?) "
                  "ORDER BY nightly_id DESC LIMIT ?) JOIN nightly ON nightly.id = nightly_id "
                  "ORDER BY date, nightly.id"};
  bind_all(query, series, count);
  return read_all(query, read_night);
}

std::vector<NightlyId> Histories::nightlies_with(FleetBenchmark const& which) const {
  Statement query{database_,
                  "SELECT DISTINCT nightly_id FROM series JOIN night ON series_id = "
                  "series.id WHERE fleet = ? AND benchmark = ? ORDER BY nightly_id"};
  bind_all(query, which.fleet, name_of(which.benchmark));
  return read_all(query,
                  [](SQLite::Statement& row) { return NightlyId{row.getColumn(0).getInt64()}; });
}

std::vector<NightlyId> Histories::nightlies() const {
  Statement query{database_,
                  "SELECT id FROM nightly WHERE EXISTS "
                  "(SELECT 1 FROM night WHERE nightly_id = nightly.id) ORDER BY date, id"};
  return read_all(query,
                  [](SQLite::Statement& row) { return NightlyId{row.getColumn(0).getInt64()}; });
}

std::vector<LevelOfSeries> Histories::levels_of(NightlyId nightly) const {
  Statement query{database_,
                  "SELECT fleet, benchmark, metric, level FROM night "
                  "JOIN series ON series.id = series_id WHERE nightly_id = ? "
                  "ORDER BY fleet, benchmark, metric"};
  bind_all(query, nightly.value);
  return read_all(query, [](SQLite::Statement& row) {
    return LevelOfSeries{read_series(row, 0), row.getColumn(3).getDouble()};
  });
}

std::vector<SeriesNights> Histories::recent(int count) const {
  // Selects the nightlies first, by their index, so older summaries are not read.
  Statement query{
      database_,
      "SELECT nightly.id, date, commit_sha, level, low, high, processes, verdict, fingerprint_id, "
      "is_judged, series_id, fleet, benchmark, metric FROM (SELECT * FROM nightly WHERE EXISTS "
      "(SELECT 1 FROM night WHERE nightly_id = nightly.id) ORDER BY date DESC, id DESC LIMIT ?) "
      "AS nightly CROSS JOIN night ON nightly_id = nightly.id JOIN series ON series.id = series_id "
      "ORDER BY fleet, benchmark, metric, date, nightly.id"};
  bind_all(query, count);
  std::vector<SeriesNights> all;
  std::int64_t last = 0;
  while (query.executeStep()) {
    auto const series = query.getColumn(10).getInt64();
    if (series != std::exchange(last, series)) all.push_back({read_series(query, 11), {}});
    all.back().nights.push_back(read_night(query));
  }
  return all;
}

std::string Histories::fingerprint(std::int64_t host) const {
  Statement query{database_, "SELECT json FROM fingerprint WHERE id = ?"};
  bind_all(query, host);
  return query.executeStep() ? read_json_text(query.getColumn(0)) : "{}";
}

}  // namespace torchwatch::storage
