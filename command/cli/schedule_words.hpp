// The words for what a schedule can be, as people, programs and daybook.toml write them.
// Thread safety: values.
#pragma once

#include "cli/words.hpp"

#include <daybook/schedule.hpp>

namespace command {

inline constexpr words_for<daybook::gap, 2> gap_words{
    {{"after", daybook::gap::after}, {"skip", daybook::gap::skip}}};
inline constexpr words_for<daybook::fold, 3> fold_words{{{"first", daybook::fold::first},
                                                         {"second", daybook::fold::second},
                                                         {"both", daybook::fold::both}}};
inline constexpr words_for<daybook::catch_up, 3> catch_up_words{
    {{"last", daybook::catch_up::last},
     {"all", daybook::catch_up::all},
     {"skip", daybook::catch_up::skip}}};
inline constexpr words_for<daybook::overlap, 2> overlap_words{
    {{"skip", daybook::overlap::skip}, {"queue", daybook::overlap::queue}}};
inline constexpr words_for<daybook::tick_state, 5> tick_state_words{
    {{"due", daybook::tick_state::due},
     {"running", daybook::tick_state::running},
     {"done", daybook::tick_state::done},
     {"failed", daybook::tick_state::failed},
     {"skipped", daybook::tick_state::skipped}}};
inline constexpr words_for<daybook::schedule_state, 3> schedule_state_words{
    {{"active", daybook::schedule_state::active},
     {"paused", daybook::schedule_state::paused},
     {"removed", daybook::schedule_state::removed}}};

}  // namespace command
