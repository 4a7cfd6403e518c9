#include "storage/database.h"

#include <utility>

namespace torchwatch::storage {

std::filesystem::path const& Database::directory() {
  if (directory_.empty())
    directory_ = std::filesystem::absolute(getFilename()).lexically_normal().parent_path();
  return directory_;
}

Statement::Statement(Database& database, std::string const& sql) : database_{database} {
  prepared_ = database_.idle_.extract(sql);
  if (!prepared_.empty()) return;
  database_.idle_.try_emplace(sql, database, sql);
  prepared_ = database_.idle_.extract(sql);
}

Statement::~Statement() {
  prepared_.mapped().tryReset();
  prepared_.mapped().clearBindings();
  database_.idle_.insert(std::move(prepared_));
}

}  // namespace torchwatch::storage
