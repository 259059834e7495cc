// What is declared of bricks and the pay for them, for whoever works on them (bricks.hpp).
// Thread safety: values.
#pragma once

#include <daybook/aggregation_options.hpp>

#include <string>

namespace bricks {

inline constexpr int state_new = 1;
inline constexpr int state_taken = 2;  ///< of a parent: closed
inline constexpr int state_settled = 3;
inline constexpr int state_void = 4;

inline constexpr int bosses = 10;
/// For one brick, in the smallest coin.
inline constexpr int money_a_brick = 2;

/// How pay is gathered: the worker's open parent, or a new one.
[[nodiscard]] inline daybook::aggregation_options declared(int chunk) {
  daybook::aggregation_options out;
  out.source.table = "t_move_brick";
  out.source.state = "status";
  out.source.link = "pay_no";
  out.source.group = {"worker_id"};
  out.parent.table = "t_move_pay";
  out.parent.state = "status";
  out.parent.count = "move_count";
  out.parent.opening = {{"boss_id", "worker_id % " + std::to_string(bosses) + " + 1"}};
  out.parent.following = {{"money", "move_sum * " + std::to_string(money_a_brick)}};
  out.sums = {{"move_num", "move_sum"}};
  out.key_prefix = "P";
  out.chunk = chunk;
  return out;
}

}  // namespace bricks
