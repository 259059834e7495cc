// What the driver of the planners' torture and its workers agree on: which planners there are, and
// what is to be done with what comes up.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <vector>

namespace torture {

/// Of a trial: their names, and those of their queues, end with its.
enum class plan : std::size_t {
  orders,     ///< a query
  sales,      ///< an inbox
  minutes,    ///< a window
  customers,  ///< a sweep
};
inline constexpr std::array all_plans{plan::orders, plan::sales, plan::minutes, plan::customers};

inline std::string name_of(plan which, std::string const& trial) {
  static constexpr std::array names{"orders", "sales", "minutes", "customers"};
  return names.at(static_cast<std::size_t>(which)) + trial;
}

/// Of its tasks.
inline std::string queue_of(plan which, std::string const& trial) {
  static constexpr std::array names{"ship", "fulfil", "total", "visit"};
  return names.at(static_cast<std::size_t>(which)) + trial;
}

/// Of the events that sales are of.
inline std::string events_of(std::string const& trial) { return "events" + trial; }

/// "orders,sales"; "all". On failure: throws std::runtime_error.
inline std::vector<plan> plans_in(std::string const& text) {
  if (text == "all") return {all_plans.begin(), all_plans.end()};
  std::vector<plan> out;
  for (auto const which : all_plans) {
    if (("," + text + ",").find("," + name_of(which, "") + ",") != std::string::npos) {
      out.push_back(which);
    }
  }
  if (out.empty()) throw std::runtime_error("no plans: " + text);
  return out;
}

/// What is to become of a sale; its event's payload.
inline constexpr char const* good_sale = "good";
inline constexpr char const* refused_sale = "refused";
inline constexpr char const* broken_sale = "broken";  ///< its check throws
inline constexpr char const* refusal_of_sale = "it is not for sale";
inline constexpr char const* fault_of_sale = "it cannot be read";

}  // namespace torture
