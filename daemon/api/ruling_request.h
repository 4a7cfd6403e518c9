#pragma once

#include <span>
#include <string>
#include <vector>

#include <boost/system/result.hpp>

#include "config/options.h"
#include "daemon/http/http_message.h"
#include "storage/domain/ruling.h"

namespace torchwatch::api {

/// Reads the body of `POST /api/v1/rulings`, a JSON object of
///
///     kind         "accept", "false_alarm", "mute", "unmute"
///     who, why     text
///     incident     id, for accept and false_alarm
///     fleet, benchmark, metric
///                  for mute, unmute, and accept without an incident: the series, by at least one
///                  of them; a missing one matches any value
///     until        for mute, optional: its end, "2026-12-31T00:00:00Z" or a date
///
/// or returns all errors in it.
boost::system::result<Ruling, std::vector<http::FieldError>> parse_ruling_request(
    std::string const& body, std::span<config::FleetOptions const> fleets);

}  // namespace torchwatch::api
