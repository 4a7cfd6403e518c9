#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/domain/answer.h"
#include "storage/domain/outbox.h"

namespace torchwatch::storage {

class Database;

/// The answers to comments on reports, and how far GitHub's lists were read. Throws
/// SQLite::Exception when the disk fails.
class Answers {
 public:
  explicit Answers(Database& database) : database_{database} {}

  /// Stores an answer without a reply. The first of a comment stays.
  void add(Answer const& answer);
  /// Stores the reply of an answer, which is new or was added before, with the message that sends
  /// it: all or nothing. The first reply to a comment stays, with its message.
  void reply(Answer const& answer, OutboxMessage const& message);
  /// True when the comment was answered or ignored.
  bool has(std::int64_t comment) const;
  /// Returns the answers whose commands were not carried out yet, in the order of their comments.
  std::vector<Answer> open() const;
  /// Returns the answers of an incident, in the order of their comments.
  std::vector<Answer> of(IncidentId incident) const;

  /// Returns how far a list was read; nothing before it was read for the first time.
  std::optional<ReadPlace> place(ReadList list) const;
  void keep_place(ReadList list, ReadPlace const& place);

 private:
  Database& database_;
};

}  // namespace torchwatch::storage
