#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/domain/outbox.h"

namespace torchwatch::storage {

class Database;

/// The messages to destinations, with the progress of sending them. IncidentEvents::add(),
/// Answers::reply() and Alarms::raise() store them. Throws SQLite::Exception when the disk fails.
///
/// Messages of one incident, or alarm, to one destination are sent in the order of their ids. A
/// message is unfinished until it was sent or given up.
class Outbox {
 public:
  explicit Outbox(Database& database) : database_{database} {}

  /// Returns the first unfinished message of each incident or alarm and destination, without those
  /// whose next attempt is later than `now`. In the order of ids.
  std::vector<OutboxEntry> next_due(Timestamp now) const;

  std::optional<OutboxEntry> find(std::int64_t id) const;

  /// Returns the messages of an incident in the order of ids.
  std::vector<OutboxEntry> of(IncidentId incident) const;

  /// Returns the messages about an alarm in the order of ids.
  std::vector<OutboxEntry> of_alarm(AlarmId alarm) const;

  /// Returns the messages of an event in the order of ids.
  std::vector<OutboxEntry> of_event(std::int64_t event) const;

  /// Returns the unfinished messages in the order of ids.
  std::vector<OutboxEntry> unfinished() const;

  /// Stores when a message is sent. Call it before sending, and with nothing when the destination
  /// replied that it did nothing.
  void mark_sent(std::int64_t id, std::optional<Timestamp> at);

  /// Finishes a message that arrived. `place`: the address of what was made. `digest`: of the body
  /// that is there now; empty: the message did not change it.
  void finish(std::int64_t id, std::string const& place, std::string const& digest, Timestamp now);

  /// Counts a failed attempt. The next one is not made before `next_at`. `rejected_at`: the time at
  /// which the destination rejected it, of which the first one stays. Nothing: it did not.
  void postpone(std::int64_t id,
                std::string const& failure,
                Timestamp next_at,
                std::optional<Timestamp> rejected_at = std::nullopt);

  /// Makes the next attempt of each unfinished message due at once.
  void retry_now();

  /// Finishes a message that failed for good, and the later ones of its incident, or alarm, and
  /// destination.
  void give_up(std::int64_t id, std::string const& failure, Timestamp now);

  /// Finishes a message that failed for good. The later ones stay.
  void give_up_alone(std::int64_t id, std::string const& failure, Timestamp now);

  /// Returns the place of what the first message of an incident made at a destination: the issue or
  /// file. Empty before.
  std::string place_of(IncidentId incident, std::string const& destination) const;

  /// Returns the same for the incident or alarm, and the destination, of a message.
  std::string place_of(OutboxMessage const& message) const;

  /// Returns the digest of the body that torchwatch wrote there last. Empty before.
  std::string body_digest(IncidentId incident, std::string const& destination) const;

 private:
  Database& database_;
};

/// Stores a new message. Call it within the transaction of its event or reply.
void insert_message(Database& database, OutboxMessage const& message);

}  // namespace torchwatch::storage
