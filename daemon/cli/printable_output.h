#pragma once

#include <ostream>
#include <streambuf>
#include <string>

namespace torchwatch::cli {

/// Escapes control characters in everything that is printed to a stream, until it is destroyed:
/// versions, subjects and rulings are texts of other people. Keeps line breaks and valid JSON.
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
  std::string pending_;  ///< printed, but not written yet
};

}  // namespace torchwatch::cli
