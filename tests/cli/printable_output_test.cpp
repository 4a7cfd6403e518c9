#include "daemon/cli/printable_output.h"

#include <sstream>

#include <gtest/gtest.h>

namespace torchwatch::cli {
namespace {

TEST(PrintableOutput, EscapesControlCharactersUntilDestroyed) {
  std::ostringstream terminal;
  {
    PrintableOutput const output{terminal};
    terminal << "2.9\x1b[31m" << ' ' << "\xe2\x82";
    terminal << "\xac in two pieces\n"
             << "and a rest\x07";
  }
  EXPECT_EQ(terminal.str(), "2.9\\x1b[31m \u20ac in two pieces\nand a rest\\x07");
  terminal << "\x1b";
  EXPECT_TRUE(terminal.str().ends_with('\x1b')) << "not escaped after its end";
}

}  // namespace
}  // namespace torchwatch::cli
