#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <list>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/cancellation_type.hpp>
#include <boost/asio/steady_timer.hpp>

namespace torchwatch::async {

/// Owns coroutines that run side by side, and reports how each of them ends. Single-threaded:
/// `executor` runs one handler at a time, and every call is made on it.
class TaskGroup {
 public:
  /// Called with the name of a task that ended with an exception. Must not throw.
  using Report = std::function<void(std::string const& name, std::exception_ptr failure)>;

  TaskGroup(boost::asio::any_io_executor executor, Report report);

  TaskGroup(TaskGroup const&) = delete;
  TaskGroup& operator=(TaskGroup const&) = delete;
  /// Call join() before: tasks refer to their group.
  ~TaskGroup() = default;

  /// Starts a task. After cancel() it is dropped instead.
  void spawn(std::string name, boost::asio::awaitable<void> task);

  /// Requests every task to end. One that ends with operation_aborted then is not reported.
  void cancel(boost::asio::cancellation_type kind = boost::asio::cancellation_type::terminal);

  /// Returns when no task runs.
  boost::asio::awaitable<void> join();

  std::size_t size() const { return running_.size(); }

 private:
  using Running = std::list<boost::asio::cancellation_signal>;

  void finish(Running::iterator task, std::string const& name, std::exception_ptr failure);

  boost::asio::any_io_executor executor_;
  Report report_;
  Running running_;
  boost::asio::steady_timer all_done_;  // never expires; cancelled when the last task ends
  bool cancelled_ = false;
};

}  // namespace torchwatch::async
