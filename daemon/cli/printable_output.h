#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace torchwatch::cli {

/// Makes everything that is printed to a stream fit for a terminal, as long as it lives: versions,
/// subjects and rulings are other people's texts. Lines stay lines, of any length; JSON stays JSON.
class PrintableOutput final : public std::streambuf {
 public:
  explicit PrintableOutput(std::ostream& stream);
  PrintableOutput(PrintableOutput const&) = delete;
  PrintableOutput& operator=(PrintableOutput const&) = delete;
  ~PrintableOutput() override;

 protected:
  int_type overflow(int_type character) override;
  std::streamsize xsputn(char const* text, std::streamsize size) override;
  int sync() override;

 private:
  void write_lines();

  std::ostream& stream_;
  std::streambuf* original_;
  std::string pending_;  ///< what was printed and not yet written
};

}  // namespace torchwatch::cli
