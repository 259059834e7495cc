// What the verbs of `daybook queues` and `daybook tasks` have in common.
// Thread safety: the main thread.
#pragma once

#include <daybook/book.hpp>
#include <daybook/table_sync.hpp>

#include <string>

namespace command {

/// On failure: complaint (66) that names those there are, or daybook::error for what is no name.
[[nodiscard]] daybook::queue must_have_queue(daybook::book const& book, std::string const& name);
/// "column code of product; triggers installed; compared 2026-11-21T09:18:25Z"
[[nodiscard]] std::string text_of(daybook::table_sync_info const& info);

inline constexpr auto no_such_queue = "\nExit codes: 66 when there is no such queue.";

}  // namespace command
