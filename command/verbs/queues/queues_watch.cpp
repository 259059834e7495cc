// daybook queues watch, unwatch, reconcile: a queue whose keys are a column of a table.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/operator_input.hpp"
#include "cli/progress_bar.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/queues/queue_verbs.hpp"
#include "wire/queues.hpp"

#include <daybook/book.hpp>
#include <daybook/table_sync.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace command {

namespace {

using json = nlohmann::ordered_json;

constexpr auto follows_none =
    "\nExit codes: 65 its table cannot be followed, 66 no such queue, or it follows no table.";

struct watched_request {
  std::string name;
  bool as_json = false;
  operator_input by;
  database_options where;
};

void add_rest(CLI::App& app, watched_request& request) {
  app.add_option("NAME", request.name, "The queue")->required();
  add_database_options(app, request.where);
}

daybook::table_sync must_follow(daybook::queue const& queue) {
  if (auto found = queue.followed()) return std::move(*found);
  auto const name = printable(queue.name());
  throw complaint(exit_code::missing,
                  fmt::format("queue '{}' follows no table; say which with: daybook queues watch "
                              "{} --table TABLE --key COLUMN",
                              name, name));
}

enum class triggers { print, install, uninstall };

struct watch_request : watched_request {
  daybook::synced_table of;
  triggers what = triggers::print;
};

watch_request read_watch(arguments const& given) {
  CLI::App app{"Lets a queue's keys follow a column of a table; prints the triggers for it.",
               "daybook queues watch"};
  app.footer(
      "\nThe table is remembered. Nothing is made in it but with --install: without triggers\n"
      "`daybook queues reconcile` finds what has changed, and with them what they do not see.\n"
      "\nExit codes: 65 the table or the column cannot be followed, 66 no such queue, or it "
      "follows\nno table and none is given.");
  watch_request out;
  auto* const table =
      app.add_option("--table", out.of.table, "product, or shop.product (that which it follows)")
          ->type_name("TABLE");
  auto* const key =
      app.add_option("--key", out.of.key, "Its column, unique and never null")->type_name("COLUMN");
  table->needs(key);
  key->needs(table);
  auto* const install = app.add_flag_function(
      "--install", [&](std::int64_t) { out.what = triggers::install; },
      "Makes the triggers instead of printing them; again is fine");
  app.add_flag_function(
         "--uninstall", [&](std::int64_t) { out.what = triggers::uninstall; }, "Drops them")
      ->excludes(install)
      ->excludes(table);
  app.add_flag("--json", out.as_json, "One object; with what would make and drop the triggers");
  add_reason(app, out.by);
  add_rest(app, out);
  parse(app, given, "NAME [--table TABLE --key COLUMN] [options]");
  return out;
}

}  // namespace

std::string text_of(daybook::table_sync_info const& info) {
  return fmt::format("column {} of {}; triggers {}; compared {}", printable(info.table.key),
                     printable(info.table.table), info.installed ? "installed" : "not installed",
                     info.reconciled ? seconds_of(*info.reconciled) : "never");
}

int queues_watch(arguments const& given) {
  auto const what = read_watch(given);
  auto book = open_book(resolve(what.where));
  auto queue = must_have_queue(book, what.name);
  auto const who = what.by.remark();
  auto watch = what.of.table.empty() ? must_follow(queue) : queue.follow(what.of, who);
  if (what.what == triggers::install) watch.install(who);
  if (what.what == triggers::uninstall) watch.uninstall(who);
  auto const info = watch.info();
  if (what.as_json) {
    auto out = json_of(info);
    if (what.what == triggers::print) {
      out["trigger_sql"] = watch.trigger_sql();
      out["drop_sql"] = watch.drop_sql();
    }
    print_json(out);
  } else if (what.what == triggers::print) {
    print(watch.trigger_sql());
  }
  say(fmt::format("{}: follows {}", printable(what.name), text_of(info)));
  return exit_code::done;
}

int queues_unwatch(arguments const& given) {
  CLI::App app{"Lets a queue follow no table any more; its keys stay.", "daybook queues unwatch"};
  app.footer(
      "\nIts triggers must be gone: daybook queues watch NAME --uninstall.\n"
      "\nExit codes: 65 they are there, 66 no such queue.");
  watched_request request;
  add_reason(app, request.by);
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto book = open_book(resolve(request.where));
  bool const changed = must_have_queue(book, request.name).unfollow(request.by.remark());
  say(fmt::format("{}: {}", printable(request.name),
                  changed ? "follows no table any more" : "follows no table, nothing to do"));
  return exit_code::done;
}

namespace {

void count_drift(watched_request const& request, daybook::table_sync const& watch) {
  auto const found = watch.compare();
  if (request.as_json) {
    print_json({{"missing", found.missing},
                {"extra", found.extra},
                {"refused", found.refused},
                {"exact", found.exact}});
  }
  say(fmt::format("{}: {}{} to add, {} to remove", printable(request.name),
                  found.exact ? "" : "at least ", found.missing, found.extra));
  if (found.refused > 0) {
    say(fmt::format("{}: {} rows have a value that can be no key", printable(request.name),
                    found.refused));
  }
}

void reconcile(watched_request const& request, daybook::table_sync& watch) {
  progress_bar bar(printable(request.name));
  std::int64_t seen = 0;
  auto const done = watch.reconcile([&](daybook::reconcile_progress const& far) {
    bar.at(seen = far.seen);
    return true;
  });
  bar.wipe();
  if (request.as_json) {
    print_json({{"added", done.added},
                {"removed", done.removed},
                {"refused", done.refused},
                {"example", done.example}});
  }
  say(fmt::format("{}: {} added, {} removed; {} compared in {}", printable(request.name),
                  done.added, done.removed, seen, bar.pace(seen)));
  if (done.refused > 0) {
    say(fmt::format("{}: {} rows have a value that can be no key, as '{}'", printable(request.name),
                    done.refused, printable(done.example)));
  }
}

}  // namespace

/// Asks nothing: keys that come and go with the table are what was asked for, and cron does it.
int queues_reconcile(arguments const& given) {
  CLI::App app{
      "Compares a queue with the table that it follows: adds keys that it has not, and "
      "removes\nthose that have no row any more.",
      "daybook queues reconcile"};
  app.footer(
      fmt::format("\nA row whose value can be no key is left out, and told.\n{}", follows_none));
  watched_request request;
  bool dry_run = false;
  app.add_flag("--dry-run", dry_run, "Only counts what it would do, up to 10000 each way");
  app.add_flag("--json", request.as_json, "How many, as one object");
  add_rest(app, request);
  parse(app, given, "NAME [options]");
  auto const book = open_book(resolve(request.where));
  auto watch = must_follow(must_have_queue(book, request.name));
  if (dry_run) {
    count_drift(request, watch);
  } else {
    reconcile(request, watch);
  }
  return exit_code::done;
}

}  // namespace command
