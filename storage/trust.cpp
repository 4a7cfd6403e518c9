#include "storage/trust.h"

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

using nlohmann::json;

json to_json(SeriesNoise const& one) {
  auto row = json::array();
  row.push_back(one.series.fleet);
  row.push_back(name_of(one.series.benchmark));
  row.push_back(std::string{to_string(one.series.metric)});
  row.push_back(one.nights);
  if (!one.noise) return row;
  for (double const figure : {one.noise->level, one.noise->between, one.noise->within})
    row.push_back(figure);
  return row;
}

SeriesNoise read_noise(json const& row) {
  constexpr std::size_t without_noise = 4;
  SeriesNoise one;
  one.series.fleet = row.at(0).get<std::string>();
  one.series.benchmark = parse_benchmark(row.at(1).get<std::string>()).value();
  one.series.metric = parse_metric(row.at(2).get<std::string>()).value();
  one.nights = row.at(3).get<std::size_t>();
  if (row.size() == without_noise) return one;
  one.noise = NightNoise{row.at(4).get<double>(), row.at(5).get<double>(), row.at(6).get<double>()};
  return one;
}

json to_json(HostFigures const& host) {
  json row;
  row["fleet"] = host.fleet;
  row["fingerprint"] = json::parse(host.fingerprint);
  row["ratio"] = host.pace.ratio;
  row["low"] = host.pace.low;
  row["high"] = host.pace.high;
  row["series"] = host.pace.series;
  row["nights"] = host.pace.nights;
  return row;
}

HostFigures read_host(json const& row) {
  HostFigures host;
  host.fleet = row.at("fleet").get<std::string>();
  host.fingerprint = row.at("fingerprint").dump();
  host.pace.ratio = row.at("ratio").get<double>();
  host.pace.low = row.at("low").get<double>();
  host.pace.high = row.at("high").get<double>();
  host.pace.series = row.at("series").get<std::size_t>();
  host.pace.nights = row.at("nights").get<std::size_t>();
  return host;
}

json to_json(AaMonth const& one) {
  auto row = json::array();
  row.push_back(one.month);
  row.push_back(one.tally.comparisons);
  row.push_back(one.tally.alarms);
  return row;
}

AaMonth read_aa_month(json const& row) {
  return {row.at(0).get<std::string>(),
          {row.at(1).get<std::int64_t>(), row.at(2).get<std::int64_t>()}};
}

json to_json(VerdictCost const& one) {
  auto row = json::array();
  row.push_back(std::string{to_string(one.verdict)});
  row.push_back(one.pairs);
  row.push_back(one.verdicts);
  return row;
}

VerdictCost read_cost(json const& row) {
  return {parse_verdict(row.at(0).get<std::string>()).value(),
          row.at(1).get<int>(),
          row.at(2).get<std::int64_t>()};
}

json to_json(IncidentMonth const& one) {
  auto row = json::array();
  row.push_back(one.month);
  row.push_back(one.incidents);
  for (auto const& durations : {one.to_culprit, one.to_fix})
    for (auto const figure : {durations.count, durations.median_s, durations.most_s})
      row.push_back(figure);
  return row;
}

Durations read_durations(json const& row, std::size_t first) {
  return {row.at(first).get<std::int64_t>(),
          row.at(first + 1).get<std::int64_t>(),
          row.at(first + 2).get<std::int64_t>()};
}

IncidentMonth read_incident_month(json const& row) {
  return {row.at(0).get<std::string>(),
          row.at(1).get<std::int64_t>(),
          read_durations(row, 2),
          read_durations(row, 5)};
}

/// Returns a JSON array with one element for each record. Replaces bytes that are not UTF-8.
template <class Record>
std::string text_of(std::vector<Record> const& records) {
  auto list = json::array();
  for (auto const& record : records)
    list.push_back(to_json(record));
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Returns the records in a column of the only row. Returns none without a row.
template <class Read>
auto read_records(Database& database, std::string const& column, Read read) {
  Statement query{database, "SELECT " + column + " FROM trust_figures"};
  std::vector<decltype(read(json{}))> records;
  if (!query.executeStep()) return records;
  for (auto const& row : read_json(query.getColumn(0)))
    records.push_back(read(row));
  return records;
}

}  // namespace

void Trust::keep(TrustFigures const& figures) {
  Statement insert{database_, "INSERT OR REPLACE INTO trust_figures VALUES (1, ?, ?, ?, ?, ?)"};
  bind_all(insert,
           text_of(figures.noise),
           text_of(figures.hosts),
           text_of(figures.aa_months),
           text_of(figures.costs),
           text_of(figures.incident_months));
  insert.exec();
}

void Trust::keep_incident_months(std::vector<IncidentMonth> const& months) {
  Statement insert{database_,
                   "INSERT INTO trust_figures VALUES (1, '[]', '[]', '[]', '[]', ?) "
                   "ON CONFLICT (id) DO UPDATE SET incident_months = excluded.incident_months"};
  bind_all(insert, text_of(months));
  insert.exec();
}

std::vector<SeriesNoise> Trust::noise() const {
  return read_records(database_, "noise", read_noise);
}

std::vector<HostFigures> Trust::hosts() const {
  return read_records(database_, "hosts", read_host);
}

std::vector<AaMonth> Trust::aa_months() const {
  return read_records(database_, "aa_months", read_aa_month);
}

std::vector<VerdictCost> Trust::costs() const {
  return read_records(database_, "costs", read_cost);
}

std::vector<IncidentMonth> Trust::incident_months() const {
  return read_records(database_, "incident_months", read_incident_month);
}

}  // namespace torchwatch::storage
