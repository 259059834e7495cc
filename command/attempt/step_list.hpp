// Which steps an attempt has had, and by which commands. Two commands under one name in one attempt
// are a mistake, most often a loop: the second would be skipped as done. An earlier attempt may
// have had another command, for programs change; so the book cannot tell, and the list ends with
// the process that holds the attempt. Thread safety: one thread. Several processes may use one list
// at once.
//
//   step_list const list(run.token());                     // `daybook run`
//   how.environment.push_back(list.variable());
//
//   step_list_around list(token);                          // `daybook step`
//   if (!list.take(name, words)) refuse();
#pragma once

#include "cli/verbs.hpp"

#include <string>
#include <string_view>
#include <utility>

namespace command {

/// Of the process that holds the attempt. Without room for a file nothing is listed.
class step_list {
 public:
  /// `token`: of the attempt.
  explicit step_list(std::string_view token);
  step_list(step_list const&) = delete;
  step_list& operator=(step_list const&) = delete;
  ~step_list();

  /// For the environment of the command.
  [[nodiscard]] std::pair<std::string, std::string> variable() const;

 private:
  int file_ = -1;
};

/// In a command of that attempt. Where the list cannot be read (another user, another machine)
/// every command is taken.
class step_list_around {
 public:
  explicit step_list_around(std::string const& token);
  step_list_around(step_list_around const&) = delete;
  step_list_around& operator=(step_list_around const&) = delete;
  ~step_list_around();

  /// Lists the step where it is new. False: the attempt has it with other words, or in another
  /// folder.
  [[nodiscard]] bool take(std::string_view step, arguments const& words) const;

 private:
  int file_ = -1;
};

}  // namespace command
