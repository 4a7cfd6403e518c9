// docs/alarms.md explains each kind of alarm once.

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "storage/domain/alarm.h"

namespace torchwatch {
namespace {

/// A row of the page's table of alarms.
struct AlarmRow {
  std::string kind;
  std::vector<std::string> cells;  ///< after the first
};

std::vector<std::string> cells_of(std::string const& line) {
  std::vector<std::string> cells;
  std::size_t begin = line.find('|') + 1;
  for (auto end = line.find('|', begin); end != std::string::npos; end = line.find('|', begin)) {
    auto cell = line.substr(begin, end - begin);
    std::erase(cell, '`');
    auto const first = cell.find_first_not_of(' ');
    cell = first == std::string::npos ? ""
                                      : cell.substr(first, cell.find_last_not_of(' ') - first + 1);
    cells.push_back(std::move(cell));
    begin = end + 1;
  }
  return cells;
}

/// Returns the rows of the table whose header begins with "alarm".
std::vector<AlarmRow> rows_of_page() {
  std::ifstream page{ALARMS_PAGE};
  std::vector<AlarmRow> rows;
  bool is_in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| alarm |"))
      is_in_table = true;
    else if (!line.starts_with('|'))
      is_in_table = false;
    else if (is_in_table && !line.starts_with("| ---")) {
      auto cells = cells_of(line);
      AlarmRow row{cells.front(), {}};
      row.cells.assign(cells.begin() + 1, cells.end());
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

TEST(AlarmsPage, HasOneRowForEachKind) {
  auto const rows = rows_of_page();
  for (auto const kind : alarm_kinds()) {
    auto const count = std::ranges::count(rows, std::string{to_string(kind)}, &AlarmRow::kind);
    EXPECT_EQ(count, 1) << to_string(kind);
  }
}

TEST(AlarmsPage, HasNoRowWithoutAKind) {
  for (auto const& row : rows_of_page())
    EXPECT_TRUE(parse_alarm_kind(row.kind)) << row.kind;
}

TEST(AlarmsPage, SaysWhatEachKindMeansAndWhatToDo) {
  for (auto const& row : rows_of_page()) {
    ASSERT_EQ(row.cells.size(), 2U) << row.kind;
    for (auto const& cell : row.cells)
      EXPECT_FALSE(cell.empty()) << row.kind;
  }
}

/// The list of kinds is written by hand, so this compares it with the values of the enum.
TEST(AlarmKinds, ListsEachKindOnce) {
  auto const kinds = alarm_kinds();
  for (std::size_t i = 0; i < kinds.size(); ++i)
    EXPECT_EQ(static_cast<std::size_t>(kinds[i]), i) << "in the order declared";
  EXPECT_EQ(to_string(static_cast<AlarmKind>(kinds.size())), "unknown");
}

}  // namespace
}  // namespace torchwatch
