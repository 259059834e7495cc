// daybook metrics: the book's metrics as text for Prometheus.
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "verbs/metrics/book_metrics.hpp"

#include <daybook/book.hpp>

#include <CLI/CLI.hpp>

namespace command {

int metrics(arguments const& given) {
  CLI::App app{
      "Prints the metrics of the book as text for Prometheus: of runs, processes, problems,\n"
      "schedules, queues and plans.",
      "daybook metrics"};
  app.footer(
      "\nFor the text-file collector of the node exporter, every minute from cron:\n"
      "  daybook metrics >daybook.prom.new && mv daybook.prom.new daybook.prom\n"
      "in the folder that it reads.");
  database_options where;
  add_database_options(app, where);
  parse(app, given);
  print(prometheus_text(metrics_of(open_book(resolve(where)))));
  return exit_code::done;
}

}  // namespace command
