#include "tests/fuzz/property.h"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

namespace torchwatch::fuzz {

void require(bool holds, std::string const& property) {
  if (!holds) throw Broken{property};
}

bool is_one_line(std::string_view text) {
  return std::ranges::none_of(text, [](char c) { return (c >= '\0' && c < ' ') || c == '\x7f'; });
}

std::vector<std::string> parts_of(std::string_view input, std::size_t count) {
  constexpr std::string_view border = "\n%%\n";
  std::vector<std::string> parts;
  while (parts.size() + 1 < count) {
    auto const end = std::min(input.find(border), input.size());
    parts.emplace_back(input.substr(0, end));
    input.remove_prefix(std::min(end + border.size(), input.size()));
  }
  parts.emplace_back(input);
  return parts;
}

void write_file(std::filesystem::path const& file, std::string_view text) {
  std::ofstream stream{file, std::ios::binary | std::ios::trunc};
  stream.write(text.data(), static_cast<std::streamsize>(text.size()));
  if (!stream.flush()) throw std::runtime_error("cannot write " + file.string());
}

bool agrees(nlohmann::json const& given, nlohmann::json const& kept) {
  if (kept.is_object() && given.is_object())
    return std::ranges::all_of(kept.items(), [&](auto const& member) {
      auto const found = given.find(member.key());
      return found == given.end() || agrees(*found, member.value());
    });
  if (kept.is_array() && given.is_array())
    return std::equal(kept.begin(),
                      kept.end(),
                      given.begin(),
                      given.end(),
                      [](auto const& one, auto const& other) { return agrees(other, one); });
  // The library compares 2^63 and -2^63 as equal.
  if (kept.is_number_integer() && given.is_number_integer()) return given.dump() == kept.dump();
  return given == kept;
}

}  // namespace torchwatch::fuzz
