// The same work, by the library.
// Thread safety: as the book's; the pieces of work with different keys are independent.
#pragma once

#include <daybook/book.hpp>

#include <string>

namespace bench {

/// How a step is done: recorded only, or with an effect of one row in its transaction.
enum class step_kind : unsigned char { recorded, with_effect };

/// start, `steps` steps, finish. On failure: std::runtime_error, or daybook::error.
void run_by_library(daybook::book& book, daybook::key const& piece, int steps,
                    step_kind kind = step_kind::recorded);

}  // namespace bench
