#include "benchmarks/library.hpp"

#include <stdexcept>
#include <utility>

namespace bench {

void run_by_library(daybook::book& book, daybook::key const& piece, int steps, step_kind kind) {
  static daybook::process const name{"bench"};
  auto attempt = book.start(name, piece);
  if (!attempt) throw std::runtime_error("the run is not free");
  auto run = std::move(attempt).take();
  for (int step = 1; step <= steps; ++step) {
    auto const title = "step" + std::to_string(step);
    bool const held = kind == step_kind::recorded
                          ? static_cast<bool>(run.record(title))
                          : static_cast<bool>(run.step(title, [&](daybook::transaction& tx) {
                              tx.exec("insert into effect(number) values (:n)", std::int64_t{step});
                            }));
    if (!held) throw std::runtime_error("the run was lost");
  }
  if (!std::move(run).finish()) throw std::runtime_error("the run was lost");
}

}  // namespace bench
