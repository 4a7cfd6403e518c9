#include "storage/answers.h"

#include <string>

#include "storage/database.h"
#include "storage/outbox.h"
#include "storage/rows.h"

namespace torchwatch::storage {
namespace {

constexpr auto select_answers =
    "SELECT comment_id, incident_id, command, who, at, reply FROM answered_comment ";

constexpr auto insert_answer =
    "INSERT INTO answered_comment (comment_id, incident_id, command, who, at, reply) "
    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (comment_id) DO ";

Answer read_answer(SQLite::Statement& row) {
  Answer answer;
  answer.comment = row.getColumn(0).getInt64();
  answer.incident.value = row.getColumn(1).getInt64();
  answer.command = row.getColumn(2).getString();
  answer.who = row.getColumn(3).getString();
  answer.at = read_time(row.getColumn(4));
  if (!row.getColumn(5).isNull()) answer.reply = row.getColumn(5).getString();
  return answer;
}

/// Inserts an answer. `conflict`: the action for a comment that has one. Returns the number of rows
/// that changed.
int store_answer(Database& database, Answer const& answer, std::string const& conflict) {
  Statement statement{database, insert_answer + conflict};
  bind_all(statement,
           answer.comment,
           answer.incident.value,
           answer.command,
           answer.who,
           seconds_of(answer.at),
           answer.reply);
  return statement.exec();
}

std::string name_of_list(ReadList list) {
  return list == ReadList::comments ? "comments" : "closed_issues";
}

}  // namespace

void Answers::add(Answer const& answer) {
  store_answer(database_, answer, "NOTHING");
}

void Answers::reply(Answer const& answer, OutboxMessage const& message) {
  SQLite::Transaction transaction{database_, SQLite::TransactionBehavior::IMMEDIATE};
  auto const changed =
      store_answer(database_, answer, "UPDATE SET reply = excluded.reply WHERE reply IS NULL");
  if (changed > 0) insert_message(database_, message);
  transaction.commit();
}

bool Answers::has(std::int64_t comment) const {
  Statement query{database_, "SELECT 1 FROM answered_comment WHERE comment_id = ?"};
  bind_all(query, comment);
  return query.executeStep();
}

std::vector<Answer> Answers::open() const {
  Statement query{database_,
                  std::string{select_answers} + "WHERE reply IS NULL ORDER BY comment_id"};
  return read_all(query, read_answer);
}

std::vector<Answer> Answers::of(IncidentId incident) const {
  Statement query{database_,
                  std::string{select_answers} + "WHERE incident_id = ? ORDER BY comment_id"};
  bind_all(query, incident.value);
  return read_all(query, read_answer);
}

std::optional<ReadPlace> Answers::place(ReadList list) const {
  Statement query{database_, "SELECT since, etag, last_comment FROM github_list WHERE name = ?"};
  bind_all(query, name_of_list(list));
  return read_one(query, [](SQLite::Statement& row) {
    return ReadPlace{
        read_time(row.getColumn(0)), row.getColumn(1).getString(), row.getColumn(2).getInt64()};
  });
}

void Answers::keep_place(ReadList list, ReadPlace const& place) {
  Statement update{database_,
                   "INSERT INTO github_list (name, since, etag, last_comment) VALUES (?, ?, ?, ?) "
                   "ON CONFLICT (name) DO UPDATE SET since = excluded.since, etag = excluded.etag, "
                   "last_comment = excluded.last_comment"};
  bind_all(update, name_of_list(list), seconds_of(place.since), place.etag, place.last_comment);
  update.exec();
}

}  // namespace torchwatch::storage
