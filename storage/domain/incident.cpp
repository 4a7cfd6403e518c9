#include "storage/domain/incident.h"

#include <array>
#include <cstddef>
#include <utility>

namespace torchwatch {
namespace {

template <class T, std::size_t N>
using Words = std::array<std::pair<T, std::string_view>, N>;

constexpr Words<IncidentState, 9> state_words{{
    {IncidentState::open, "open"},
    {IncidentState::explained, "explained"},
    {IncidentState::fix_expected, "fix_expected"},
    {IncidentState::fixed, "fixed"},
    {IncidentState::partly_fixed, "partly_fixed"},
    {IncidentState::returned, "returned"},
    {IncidentState::accepted, "accepted"},
    {IncidentState::false_alarm, "false_alarm"},
    {IncidentState::stale, "stale"},
}};

constexpr Words<IncidentEventKind, 10> event_words{{
    {IncidentEventKind::opened, "opened"},
    {IncidentEventKind::explained, "explained"},
    {IncidentEventKind::series_joined, "series_joined"},
    {IncidentEventKind::fix_expected, "fix_expected"},
    {IncidentEventKind::fixed, "fixed"},
    {IncidentEventKind::partly_fixed, "partly_fixed"},
    {IncidentEventKind::returned, "returned"},
    {IncidentEventKind::ruled, "ruled"},
    {IncidentEventKind::stale, "stale"},
    {IncidentEventKind::answered, "answered"},
}};

template <class T, std::size_t N>
std::string_view word_of(T value, Words<T, N> const& words) {
  for (auto const& [one, word] : words)
    if (one == value) return word;
  return "unknown";
}

template <class T, std::size_t N>
std::optional<T> value_of(std::string_view text, Words<T, N> const& words) {
  for (auto const& [one, word] : words)
    if (word == text) return one;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(IncidentState state) {
  return word_of(state, state_words);
}

std::optional<IncidentState> parse_incident_state(std::string_view text) {
  return value_of(text, state_words);
}

std::string_view to_string(IncidentEventKind kind) {
  return word_of(kind, event_words);
}

std::optional<IncidentEventKind> parse_incident_event_kind(std::string_view text) {
  return value_of(text, event_words);
}

bool is_unfinished(IncidentState state) {
  return state != IncidentState::fixed && state != IncidentState::accepted &&
         state != IncidentState::false_alarm;
}

}  // namespace torchwatch
