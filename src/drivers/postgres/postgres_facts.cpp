#include "drivers/postgres/postgres_facts.hpp"

#include "drivers/drivers.hpp"

#include <chrono>
#include <cstdint>
#include <exception>
#include <string>
#include <variant>

namespace daybook {
inline namespace v1 {
namespace drivers {

namespace {

using asking = std::function<db::table(db::statement const&)>;

std::string clock_difference(asking const& ask) {
  using std::chrono::microseconds;
  using std::chrono::system_clock;
  auto const host = [] {
    return std::chrono::duration_cast<microseconds>(system_clock::now().time_since_epoch());
  };
  db::statement const clock{.name = "facts",
                            .text = "select " + std::string(postgres_dialect().real_clock),
                            .only_reads = true};
  try {
    auto const before = host();
    auto const server = ask(clock).cells.at(0);
    auto const between = before + (host() - before) / 2;
    auto const apart = microseconds(std::get<std::int64_t>(server)) - between;
    return std::to_string(std::chrono::round<std::chrono::milliseconds>(apart).count());
  } catch (std::exception const&) {
    return "unknown";
  }
}

}  // namespace

std::vector<db::fact> postgres_facts(::PGconn& connection, asking const& ask) {
  int const library = ::PQlibVersion();
  char const* const server = ::PQparameterStatus(&connection, "server_version");
  return {
      {"libpq_version", std::to_string(library / 10000) + "." + std::to_string(library % 10000)},
      {"server_version", server == nullptr ? "unknown" : server},
      {"clock_difference_ms", clock_difference(ask)},
  };
}

}  // namespace drivers
}  // namespace v1
}  // namespace daybook
