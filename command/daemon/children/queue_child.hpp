// What a command for one task and a command for many have in common: how it is started, why it is
// ended, and what is said of its end.
// Thread safety: several threads at once, each with its own.
#pragma once

#include "config/declared_queue.hpp"
#include "daemon/children/launch.hpp"
#include "output/capture.hpp"
#include "output/output_log.hpp"
#include "process/attend.hpp"

#include <daybook/job.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>

namespace command {

/// Its words and environment; `places` as task_places or batch_places have them.
[[nodiscard]] program program_for(declared_queue const& declared,
                                  std::span<std::string const> places, database const& where);

/// The reasons of a job's one stop token, each with a token of its own: a command is given less
/// time when its claim is lost. Lifetime: the job must outlive it.
template <class Job>
class asked {
 public:
  explicit asked(Job const& job) : job_(job), heard_(job.stopping(), hear{this}) {}

  [[nodiscard]] limits within(declared_queue const& declared, launch_site const& site) const {
    return {.timeout = declared.timeout,
            .lost = lost_.get_token(),
            .stopping = stopping_.get_token(),
            .kill = site.kill,
            .grace = site.grace,
            .grace_when_lost = site.grace_when_lost};
  }

 private:
  struct hear {
    asked* to;
    void operator()() const noexcept {
      auto& source = to->job_.why() == daybook::stop_reason::lost ? to->lost_ : to->stopping_;
      source.request_stop();
    }
  };

  Job const& job_;
  std::stop_source lost_;
  std::stop_source stopping_;
  std::stop_callback<hear> heard_;
};

struct command_end {
  attended how;
  std::string remark;  ///< of an end that is no success
};

/// Runs a command to its end. `said` is given the lines of its stdout, of at most `longest_line`
/// bytes; those of its stderr go into the log, and the last of them into the remark. The files of
/// `how` but its stdin are set here. On failure: complaint (126, 127); nothing was executed then.
[[nodiscard]] command_end run_command(declared_queue const& declared, limits const& within,
                                      program program, output_log& told,
                                      capture::line_reader const& said,
                                      std::size_t longest_line = capture::usual_line);

/// The same until what ends the job, or its claim.
template <class Job>
[[nodiscard]] command_end run_command(declared_queue const& declared, Job const& job,
                                      program program, launch_site const& site, output_log& told,
                                      capture::line_reader const& said,
                                      std::size_t longest_line = capture::usual_line) {
  asked const by(job);
  return run_command(declared, by.within(declared, site), std::move(program), told, said,
                     longest_line);
}

/// The remark, and the end of what the command printed on stdout, where it printed anything.
[[nodiscard]] std::string with_stdout(std::string remark, output_tail const& printed);

/// Its exit code is 75 (EX_TEMPFAIL): what is not done is asked for again later, not counted as an
/// attempt.
[[nodiscard]] bool asks_for_later(attended const& end) noexcept;

/// What becomes of a task that its command has not said the end of; empty: it is handed back. Who
/// does not know whether it was done has failed, or, in a queue of mode at-most-once, waits for a
/// person; 75 says that it was not done.
[[nodiscard]] std::optional<daybook::result> judged(declared_queue const& declared,
                                                    attended const& end, std::string const& remark);

// Lines of the log: of a result, where a person wants to know of it; and of tasks that another has
// by now, whose command was ended.
void tell(declared_queue const& declared, daybook::task const& task, daybook::result const& result,
          journal& log);
void tell_lost(declared_queue const& declared, std::size_t tasks, journal& log);

}  // namespace command
