// The words for what a schedule can be, as people, programs and daybook.toml write them.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"

#include <daybook/schedule.hpp>
#include <daybook/words.hpp>

namespace command {

inline auto const gap_words = words_of({daybook::gap::after, daybook::gap::skip});
inline auto const fold_words =
    words_of({daybook::fold::first, daybook::fold::second, daybook::fold::both});
inline auto const catch_up_words =
    words_of({daybook::catch_up::last, daybook::catch_up::all, daybook::catch_up::skip});
inline auto const overlap_words = words_of({daybook::overlap::skip, daybook::overlap::queue});
inline auto const tick_state_words =
    words_of({daybook::tick_state::due, daybook::tick_state::running, daybook::tick_state::done,
              daybook::tick_state::failed, daybook::tick_state::skipped});
inline auto const schedule_state_words =
    words_of({daybook::schedule_state::active, daybook::schedule_state::paused,
              daybook::schedule_state::removed});

}  // namespace command
