#include "storage/retries.h"

#include "storage/database.h"
#include "storage/rows.h"

namespace torchwatch::storage {

std::optional<Retry> Retries::find(std::string const& subject) const {
  Statement query{database_,
                  "SELECT subject, since, tried_at, reason FROM retry WHERE subject = ?"};
  bind_all(query, subject);
  return read_one(query, [](SQLite::Statement& row) {
    return Retry{row.getColumn(0).getString(),
                 read_time(row.getColumn(1)),
                 read_time(row.getColumn(2)),
                 row.getColumn(3).getString()};
  });
}

Retry Retries::note(std::string const& subject, Timestamp now, std::string const& reason) {
  Statement insert{database_,
                   "INSERT INTO retry (subject, since, tried_at, reason) VALUES (?1, ?2, ?2, ?3) "
                   "ON CONFLICT (subject) DO UPDATE SET tried_at = ?2, reason = ?3"};
  bind_all(insert, subject, seconds_of(now), reason);
  insert.exec();
  return find(subject).value();
}

void Retries::forget(std::string const& subject) {
  Statement remove{database_, "DELETE FROM retry WHERE subject = ?"};
  bind_all(remove, subject);
  remove.exec();
}

}  // namespace torchwatch::storage
