#include "daemon/cli/printable_output.h"

#include <string_view>

#include "storage/base/printable.h"

namespace torchwatch::cli {

PrintableOutput::PrintableOutput(std::ostream& stream)
    : stream_{stream},
      original_{stream.rdbuf(this)} {}

PrintableOutput::~PrintableOutput() {
  sync();
  stream_.rdbuf(original_);
}

PrintableOutput::int_type PrintableOutput::overflow(int_type character) {
  if (traits_type::eq_int_type(character, traits_type::eof()))
    return traits_type::not_eof(character);
  pending_ += traits_type::to_char_type(character);
  write_lines();
  return character;
}

std::streamsize PrintableOutput::xsputn(char const* text, std::streamsize size) {
  pending_.append(text, static_cast<std::size_t>(size));
  write_lines();
  return size;
}

/// Writes whole lines only: the rest can end within a character.
void PrintableOutput::write_lines() {
  auto const end = pending_.rfind('\n');
  if (end == std::string::npos) return;
  auto const shown = printable_lines(std::string_view{pending_}.substr(0, end + 1));
  original_->sputn(shown.data(), static_cast<std::streamsize>(shown.size()));
  pending_.erase(0, end + 1);
}

int PrintableOutput::sync() {
  auto const shown = printable_lines(pending_);
  pending_.clear();
  original_->sputn(shown.data(), static_cast<std::streamsize>(shown.size()));
  return original_->pubsync();
}

}  // namespace torchwatch::cli
