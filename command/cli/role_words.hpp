// The words for what tokens and sessions may do.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"

#include <daybook/access.hpp>

namespace command {

inline auto const role_words =
    words_of({daybook::role::metrics, daybook::role::read, daybook::role::work,
              daybook::role::operate, daybook::role::admin});

}  // namespace command
