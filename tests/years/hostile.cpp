#include "tests/years/hostile.h"

#include <array>

namespace torchwatch::years {
namespace {

constexpr std::array attacks{
    "<script>document.title = 'owned'</script>",
    "<img src=x onerror=\"document.title='owned'\">",
    "\"><svg onload=alert(1)>",
    "</title></style></textarea></script><h1>broken out</h1>",
    "&lt;b&gt; is no tag, &amp;amp; is no &",
    "[click me](javascript:alert(1)) ![](https://tracker.example/pixel.png)",
    "# Heading\n\n- [ ] @everyone fixes #1",
    "| a | b |\n|---|---|\n| **bold** | `code` |",
    "```\nfence without an end",
    "--> <!-- a comment begins",
    // NOLINTNEXTLINE(misc-misleading-bidirectional): the attack
    "\u202Egnirts desrever a ni dne\u202C \u200F\u05D0\u05D1\u05D2\u200E \u2066isolated",
    "tab\tand\r\nline end, \u2028 separator, \u0007 bell, \u001B[31mred\u001B[0m",
    "'; DROP TABLE nightly; --",
    "{{constructor.constructor('alert(1)')()}} ${alert(1)} <%= 1 %>",
    "\U0001F469\u200D\U0001F469\u200D\U0001F467\u200D\U0001F466 "
    "Z\u0351\u036B\u0343\u036A\u0302a\u0334"
    "\u030Dl\u0328\u0321g\u0322o\u0321"};

constexpr std::size_t characters = 10'000;

/// Returns 10,000 characters: one word, or many words.
std::string endless(Chance& chance) {
  std::string const piece = chance.happens(0.5) ? "x" : "lorem ipsum ";
  std::string text;
  while (text.size() < characters)
    text += piece;
  return text.substr(0, characters);
}

}  // namespace

std::string Texts::of(std::string text, Chance& chance) const {
  if (!are_hostile_ || !chance.happens(0.3)) return text;
  if (chance.happens(0.15)) return endless(chance);
  std::string const attack = chance.pick(attacks);
  return chance.happens(0.5) ? attack : text + ' ' + attack;
}

}  // namespace torchwatch::years
