#include "tests/fakes/memory/trunk.h"

#include <stdexcept>
#include <utility>

namespace torchwatch::fakes {
namespace {

lab::CommitText text_of(std::string message) {
  lab::Person const ada{"Ada Author", "ada@example.org", "ada"};
  Timestamp const time{std::chrono::seconds{1767323045}};
  return {std::move(message), ada, time, ada, time};
}

std::filesystem::path empty_folder(std::filesystem::path const& repository) {
  auto folder = repository;
  folder += ".tree";
  std::filesystem::create_directories(folder);
  return folder;
}

}  // namespace

Trunk::Trunk(std::filesystem::path directory, std::size_t commits)
    : directory_{std::move(directory)},
      repository_{lab::Repository::create(directory_).value()},
      tree_{repository_.import(empty_folder(directory_)).value()} {
  std::vector<lab::CommitText> texts;
  for (std::size_t i = 0; i < commits; ++i)
    texts.push_back(
        text_of("Commit " + std::to_string(i) + " (#" + std::to_string(1000 + i) + ")"));
  land(texts);
}

void Trunk::land(std::vector<lab::CommitText> const& texts) {
  for (auto const& text : texts) {
    auto const* const parent = commits_.empty() ? nullptr : &commits_.back();
    add(repository_.commit(tree_, parent, text).value());
  }
  repository_.set_branch("main", commits_.back()).value();
}

void Trunk::add(CommitSha const& commit) {
  numbers_[commit] = commits_.size();
  commits_.push_back(commit);
}

std::vector<CommitSha> Trunk::branch_off(std::size_t number, std::size_t commits) {
  return branch_off(commit(number), commits);
}

std::vector<CommitSha> Trunk::branch_off(CommitSha const& from, std::size_t commits) {
  std::vector<CommitSha> side;
  auto tip = from;
  for (std::size_t i = 0; i < commits; ++i) {
    tip = repository_.commit(tree_, &tip, text_of("Side " + std::to_string(i))).value();
    side.push_back(tip);
  }
  repository_.set_branch("side", tip).value();
  return side;
}

void Trunk::merge(CommitSha const& side) {
  add(merge(commits_.back(), side));
  repository_.set_branch("main", commits_.back()).value();
}

CommitSha Trunk::merge(CommitSha const& into, CommitSha const& side) {
  std::vector<CommitSha> const parents{into, side};
  return repository_.merge(tree_, parents, text_of("Merge side")).value();
}

std::size_t Trunk::number_of(CommitSha const& commit) const {
  auto const found = numbers_.find(commit);
  if (found == numbers_.end()) throw std::runtime_error("the trunk has no commit " + commit.hex);
  return found->second;
}

CommitSha Trunk::release(std::string const& date, std::size_t number) {
  return release(date, commit(number));
}

CommitSha Trunk::release(std::string const& date, CommitSha const& commit) {
  auto const text = text_of(date + " nightly release (" + commit.hex + ")");
  auto const* const parent = last_release_.hex.empty() ? nullptr : &last_release_;
  last_release_ = repository_.commit(tree_, parent, text).value();
  repository_.set_branch("nightly", last_release_).value();
  return last_release_;
}

}  // namespace torchwatch::fakes
