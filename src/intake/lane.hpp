// A lane at work: takes pages of messages, each part of a page in one transaction that its run's
// fence guards. It calls the source between transactions only.
// Thread safety: one thread.
#pragma once

#include "base/platform.hpp"
#include "core/run/run.hpp"
#include "intake/effect.hpp"
#include "intake/mapping.hpp"
#include "intake/store.hpp"

#include <daybook/intake.hpp>

#include <chrono>
#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace daybook {
inline namespace v1 {
namespace intakes {

class lane {
 public:
  /// How something has gone.
  enum class progress : std::uint8_t {
    done,
    anew,   ///< it is not known how far the book is: read its places again
    ended,  ///< a stop was requested, or the intake takes nothing any more
  };

  /// All is borrowed.
  lane(store const& intake, run& held, take_options const& options, take_report& report);
  lane(lane const&) = delete;
  lane& operator=(lane const&) = delete;
  virtual ~lane() = default;

  /// Takes messages until the options say that it is enough. On failure: throws.
  virtual void work() = 0;
  /// The intake was declared anew meanwhile.
  [[nodiscard]] bool outdated() const noexcept { return outdated_; }

 protected:
  /// One transaction. On failure: throws what the effect throws, and nothing of it is there.
  virtual progress commit(std::span<mapped> part) = 0;
  [[nodiscard]] virtual failure_policy usual_policy() const noexcept = 0;

  /// All of a page; where it fails, by halves, and what fails alone by the intake's policy.
  progress take(std::span<mapped> page);
  [[nodiscard]] std::vector<mapped> mapped_page(std::span<broker::message const> messages) const;
  /// The next request: few messages at first, if the attempt before this one may have died of them.
  [[nodiscard]] broker::page_request next_page();
  /// False: it takes nothing any more. Looks once a second.
  [[nodiscard]] bool active();
  [[nodiscard]] bool stopping() const;
  [[nodiscard]] bool waits_for_more() const noexcept { return options_->until == take_until::stop; }
  /// Stops the intake for people to see why.
  progress stop(std::string const& why);
  /// As core::held_run::write_fenced(). On failure: error_code::conflict where the run is
  /// another's.
  outcome write(std::function<bool(db::session&)> const& body);
  void count(std::int64_t taken, std::int64_t refused);
  [[nodiscard]] bool too_many_refused() const;

  [[nodiscard]] core::context const& context() const noexcept { return intake_->context(); }
  [[nodiscard]] definition const& declared() const noexcept { return intake_->declared(); }
  [[nodiscard]] take_options const& options() const noexcept { return *options_; }
  [[nodiscard]] take_report& report() const noexcept { return *report_; }
  [[nodiscard]] effect const& effects() const noexcept { return effect_; }

 private:
  progress take_part(std::span<mapped> part);
  progress take_alone(mapped& one, std::string why);
  [[nodiscard]] bool pause(std::chrono::milliseconds length) const;

  store const* intake_;
  run* held_;
  take_options const* options_;
  take_report* report_;
  effect effect_;
  std::int64_t page_;
  base::boot_clock::time_point looked_;
  bool outdated_ = false;
};

/// Those of a part that are refused, and those that are not.
struct sorted_part {
  std::vector<mapped const*> good;
  std::vector<mapped const*> refused;
  void add(mapped const& one) { (one.refused.empty() ? good : refused).push_back(&one); }
};

class log_lane final : public lane {
 public:
  log_lane(broker::log& source, store const& intake, run& held, take_options const& options,
           take_report& report)
      : lane(intake, held, options, report), source_(&source) {}
  void work() override;

 private:
  struct partition {
    std::string topic;
    std::int32_t number = 0;
    auto operator<=>(partition const&) const = default;
  };
  struct state {
    std::int64_t next = 0;
    std::string anchor;
    std::int64_t end = 0;  ///< of the log when this lane began
  };

  progress commit(std::span<mapped> part) override;
  [[nodiscard]] failure_policy usual_policy() const noexcept override {
    return failure_policy::stop;
  }
  progress find_places();
  progress read();
  progress take_page(std::span<broker::message const> messages);
  [[nodiscard]] std::map<partition, state> known_places() const;
  [[nodiscard]] bool is_ours(broker::log_extent const& extent) const noexcept;
  progress add_places(std::vector<broker::log_extent> const& missing);
  progress check_extent(broker::log_extent const& extent, state& place);
  progress skip_gap(broker::log_extent const& extent, state& place);
  [[nodiscard]] bool anchor_differs(partition const& at, state const& place);
  [[nodiscard]] bool at_end() const;
  [[nodiscard]] std::vector<broker::log_place> places() const;

  broker::log* source_;
  std::map<partition, state> places_;
  std::size_t partitions_ = 0;  ///< of the whole log
};

class queue_lane final : public lane {
 public:
  queue_lane(broker::queue& source, store const& intake, run& held, take_options const& options,
             take_report& report)
      : lane(intake, held, options, report), source_(&source) {}
  void work() override;

 private:
  progress commit(std::span<mapped> part) override;
  [[nodiscard]] failure_policy usual_policy() const noexcept override {
    return failure_policy::refuse;
  }
  void take_all();
  [[nodiscard]] bool try_commit(std::span<mapped> part);
  [[nodiscard]] std::set<std::string, std::less<>> seen_in(
      db::session& session, std::map<std::string_view, mapped const*> const& names) const;
  void forget_old_ids();

  broker::queue* source_;
  base::boot_clock::time_point forgot_;
};

}  // namespace intakes
}  // namespace v1
}  // namespace daybook
