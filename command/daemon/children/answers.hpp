// What the command for a batch of tasks answers: a JSON object on each line of its stdout, for each
// task one, as they come. Each is finished at once; what is no answer harms no other.
// Thread safety: one thread. Lifetime: the batch and the log must outlive it.
//
//   {"key": "product/42", "result": "success", "remark": "17 pieces"}
#pragma once

#include "config/declared_queue.hpp"
#include "output/output_log.hpp"

#include <daybook/job.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace command {

class answers {
 public:
  /// Remarks are kept to 2000 bytes, which JSON may write six times as long.
  static constexpr std::size_t longest_line = 65536;

  /// `given`: the numbers of the tasks that the command is given.
  answers(declared_queue const& declared, daybook::job_batch& batch,
          std::span<std::size_t const> given, journal& log, output_log& told);

  void take(printed_line const& one);
  /// Those that have no answer, in their order.
  [[nodiscard]] std::vector<std::size_t> open() const;

 private:
  void read(std::string_view line);

  declared_queue const& declared_;
  daybook::job_batch& batch_;
  journal& log_;
  output_log& told_;
  std::unordered_map<std::string, std::size_t> unanswered_;  ///< of those that have no answer
};

}  // namespace command
