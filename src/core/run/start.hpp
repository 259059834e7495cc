// Starting a run, taking one over, and attaching to another process's.
// Thread-safe.
#pragma once

#include "core/lease/holder.hpp"
#include "core/lease/memory.hpp"
#include "core/tx/context.hpp"

#include <daybook/book.hpp>
#include <daybook/names.hpp>
#include <daybook/run.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

namespace daybook {
inline namespace v1 {
namespace core {

class runs {
 public:
  runs(context const& context, core::holder& lease) : context_(context), lease_(&lease) {}

  /// What else happens in the transaction of a start, before it. May be called again. False: undo
  /// it, and start nothing.
  using beside = std::function<bool(db::session&)>;

  start_result start(process const& name, key const& run_key, start_options options);
  /// As start(), with more in its transaction. Empty: `also` said no. Where its reply was lost and
  /// nothing was found out, throws daybook::error; the run, if it was taken, is let go of.
  std::optional<start_result> start_with(process const& name, key const& run_key,
                                         start_options options, beside const& also);
  std::optional<run> attach(std::string_view text);

 private:
  struct taken {
    std::int64_t number = 0;
    std::int64_t attempt = 0;
    std::int64_t epoch = 0;
    std::int64_t version = 0;
    std::string acquisition;
    std::optional<std::chrono::microseconds> time_left;
    std::optional<std::chrono::year_month_day> date;
  };
  /// Who has it, or that it may be taken.
  struct look {
    bool exists = false;
    run_state state{};
    std::int64_t epoch = 0;
    bool succeeded = false;
    lease_holder who;
    std::optional<in_hand_line> line;
    bool holder_ended = false;
    bool lease_over = false;
    bool deadline_over = false;
    std::optional<std::chrono::year_month_day> date;
    [[nodiscard]] bool in_hand() const noexcept;
  };

  /// The run, or empty: refused, or (`locked` says by what) kept waiting for too long.
  std::optional<run> try_once(process const& name, key const& run_key, start_options options,
                              std::int64_t epoch, std::exception_ptr& locked,
                              beside const& also = {});
  /// Why not; empty where it may be taken, or taken over.
  [[nodiscard]] std::optional<start_result> refused(process const& name, key const& run_key,
                                                    look const& seen, start_options options) const;

  std::optional<taken> try_start(process const& name, key const& run_key, start_options options,
                                 std::int64_t epoch, std::string const& holder_uuid,
                                 beside const& also);
  db::table write_start(beside const& also, std::initializer_list<value> values);
  /// A dead holder may take nothing; the next life may.
  look look_at(process const& name, key const& run_key);
  /// Declares the holder dead where its lease is over, and frees the run. False: the row is locked
  /// by a process that does not go on.
  bool take_over(process const& name, key const& run_key, look const& seen);
  [[nodiscard]] bool is_mine(std::string_view holder) const;
  memory memory_of(process const& name, key const& run_key, std::int64_t number);

  context context_;
  core::holder* lease_;
};

}  // namespace core
}  // namespace v1
}  // namespace daybook
