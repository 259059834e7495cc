// A sweep: every row of a table once, in pages, each with a record that lasts.
#include "benchmarks/figures.hpp"
#include "benchmarks/plan/parts.hpp"
#include "benchmarks/plan/plain.hpp"
#include "benchmarks/plan/table.hpp"
#include "benchmarks/queue/meter.hpp"

#include <daybook/daybook.hpp>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <map>
#include <stdexcept>
#include <utility>

namespace bench {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point start) {
  return std::chrono::duration<double>(clock::now() - start).count();
}

/// What one turn took, in seconds.
struct taken {
  double cut = 0;      ///< until all pages were written down
  double all = 0;      ///< until the last page was done
  double compare = 0;  ///< what came meanwhile looked for, after that
};

/// What several turns took for a row.
struct line {
  std::vector<double> cut, all, compare, processor_us, server_us, buffers, log_bytes;
};

void note(line& in, taken const& of, cost const& spent, double rows) {
  in.cut.push_back(of.cut * 1e6 / rows);
  in.all.push_back(of.all * 1e6 / rows);
  in.compare.push_back(of.compare * 1e6 / rows);
  in.processor_us.push_back((spent.server_us + spent.client_us) / rows);
  in.server_us.push_back(spent.server_us / rows);
  in.buffers.push_back(spent.buffers / rows);
  in.log_bytes.push_back(spent.log_bytes / rows);
}

void require(bool right, std::string const& what) {
  if (!right) throw std::runtime_error("sweep: " + what);
}

/// The rows after one, in the order of the index.
std::string after_text(std::string const& engine, std::string const& created,
                       std::string const& id) {
  if (created.empty()) return "";
  // MariaDB reads no range of an index for a comparison of two columns at once.
  if (engine == "mariadb") {
    return " force index (item_created) where created > '" + created + "' or created = '" +
           created + "' and id > " + id;
  }
  return " where (created, id) > ('" + created + "', " + id + ")";
}

constexpr auto in_order = " order by created, id limit ";

/// The loop that people write: the keys of a page, its record, a commit.
taken bare(table const& of, int page) {
  of.database().execute("drop table if exists page_record");
  of.database().execute(
      "create table page_record (page bigint not null primary key, low varchar(64) not null, "
      "high varchar(64) not null, items bigint not null)");
  plain on(of.database());
  auto const start = clock::now();
  std::string created;
  std::string id;
  for (long number = 1;; ++number) {
    auto const low = created + "," + id;
    on.execute("begin");
    auto const found =
        on.rows("select created, id from item" + after_text(of.on().name, created, id) + in_order +
                    std::to_string(page),
                [&](char const* const* row) {
                  created = row[0];
                  id = row[1];
                });
    if (found > 0) {
      on.execute("insert into page_record (page, low, high, items) values (" +
                 std::to_string(number) + ", '" + low + "', '" + created + "," + id + "', " +
                 std::to_string(found) + ")");
    }
    on.execute("commit");
    if (found < page) break;
  }
  taken const out{.all = seconds_since(start)};
  require(of.number("select sum(items) from page_record") == static_cast<double>(of.rows()),
          "the loop by hand has not seen every row once");
  return out;
}

/// One number for each turn: a plan of its own.
std::string new_name() {
  static int turn = 0;
  return "sweep " + std::to_string(++turn);
}

/// Pages worked on by a node: each in a transaction in which its rows are read and it is done.
class working {
 public:
  working(daybook::book& book, daybook::planner plan, int workers, std::int64_t pages)
      : node_(book), plan_(std::move(plan)), pages_(pages) {
    node_.work(plan_.options().queue, [this](daybook::job& job) { return work(job); },
               {.threads = workers, .upkeep = false});
    node_.start();
  }
  /// Until the last page is done. How many rows they have seen.
  std::int64_t wait() {
    all_.wait(false);
    node_.stop();
    return seen_;
  }

 private:
  daybook::result work(daybook::job& job) {
    std::int64_t found = 0;
    auto const page = plan_.page(daybook::key(job.task().key)).value();
    page.perform(job, [&](daybook::transaction&, std::vector<daybook::row_key> const& keys) {
      found = static_cast<std::int64_t>(keys.size());
    });
    seen_ += found;
    if (++done_ == pages_) {
      all_ = true;
      all_.notify_one();
    }
    return daybook::result::success();
  }

  daybook::node node_;
  daybook::planner plan_;
  std::int64_t pages_;
  std::atomic<std::int64_t> done_ = 0;
  std::atomic<std::int64_t> seen_ = 0;
  std::atomic<bool> all_ = false;
};

taken library(table const& of, int page, int workers) {
  auto const name = new_name();
  daybook::book book(of.url());
  book.make_queue(name);
  auto plan = book.make_planner(name, {.queue = name,
                                       .strategy = daybook::sweep_strategy{
                                           .table = "item", .created = "created", .page = page}});
  auto const pages = (of.rows() + page - 1) / page;
  taken out;
  auto start = clock::now();
  working off(book, plan, workers, pages);
  require(plan.pass().launched == pages, "not every page was launched");
  out.cut = seconds_since(start);
  require(off.wait() == of.rows(), "its pages have not seen every row once");
  out.all = seconds_since(start);
  start = clock::now();
  plan.pass();
  out.compare = seconds_since(start);
  auto const sweep = plan.sweeps(1).at(0);
  require(sweep.state == daybook::sweep_state::over && sweep.rows == of.rows() &&
              sweep.done == pages && sweep.vanished == 0 && sweep.late == 0,
          "it does not say that every page is done");
  return out;
}

void print_head(std::string const& what) {
  std::printf("\n%s\n%-24s %10s %7s %7s %7s %7s %8s %8s %8s\n", what.c_str(), "a row, us", "rows/s",
              "cut", "all", "compare", "cpu", "server", "buffers", "log B");
}

double rate(line const& of) { return 1e6 / middle(of.all); }

void print(std::string const& name, line const& of) {
  std::printf("%-24s %10.0f %7.3f %7.3f %7.3f %7.3f %8.3f %8.4f %8.1f\n", name.c_str(), rate(of),
              middle(of.cut), middle(of.all), middle(of.compare), middle(of.processor_us),
              middle(of.server_us), middle(of.buffers), middle(of.log_bytes));
  std::fflush(stdout);
}

/// How paging by offset goes on, and what its last page would cost.
void offset(table const& of, plan_settings const& with) {
  plain on(of.database());
  auto const text = [&](long at) {
    return "select created, id from item" + std::string(in_order) + std::to_string(with.page) +
           " offset " + std::to_string(at);
  };
  auto const start = clock::now();
  long seen = 0;
  while (seen < of.rows() && seconds_since(start) < with.offset_seconds) {
    seen += on.rows(text(seen), [](char const* const*) {});
  }
  auto const took = seconds_since(start);
  auto const last = clock::now();
  on.rows(text(std::max(0L, of.rows() - with.page)), [](char const* const*) {});
  std::printf("offset, reading only: %.0f rows/s up to row %ld; the last page takes %.1f ms\n",
              static_cast<double>(seen) / took, seen, seconds_since(last) * 1e3);
}

/// Name of a contestant, and its figures.
using lines = std::map<std::string, line>;

lines turns(table const& of, plan_settings const& with) {
  meter costs(of.on(), of.database());
  lines out;
  auto const turn = [&](std::string const& name, auto const& body) {
    costs.begin();
    auto const took = body();
    note(out[name], took, costs.end(), static_cast<double>(of.rows()));
  };
  for (int round = 0; round < with.rounds; ++round) {
    turn("bare", [&] { return bare(of, with.page); });
    for (auto const workers : with.workers) {
      turn("library, workers " + std::to_string(workers),
           [&] { return library(of, with.page, workers); });
    }
  }
  return out;
}

/// Each contestant's figures for a row of the larger table to those of the smaller one.
void print_flatness(lines const& small, lines const& large) {
  auto const part = [](std::vector<double> const& of, std::vector<double> const& to) {
    return middle(to) == 0 ? 0 : middle(of) / middle(to);
  };
  for (auto const& [name, one] : large) {
    auto const& before = small.at(name);
    std::printf("%-24s to the first size: processor time %.2f, buffers %.2f\n", name.c_str(),
                part(one.processor_us, before.processor_us), part(one.buffers, before.buffers));
  }
}

}  // namespace

void sweep_part(support::engine const& on, plan_settings const& with) {
  table of(on);
  daybook::book(of.url()).migrate();
  lines first;
  for (auto const rows : with.rows) {
    of.grow_to(rows);
    auto const found = turns(of, with);
    print_head(on.name + ": a sweep of " + std::to_string(rows) + " rows, pages of " +
               std::to_string(with.page));
    for (auto const& [name, one] : found) print(name, one);
    auto const& bare = found.at("bare");
    for (auto const& [name, one] : found) {
      if (name == "bare") continue;
      auto const whole = 1e6 / (1e6 / rate(one) + middle(one.compare));
      std::printf("%-24s to bare: %.2f; with the comparison at the end %.2f\n", name.c_str(),
                  rate(one) / rate(bare), whole / rate(bare));
    }
    offset(of, with);
    if (first.empty()) {
      first = found;
    } else {
      print_flatness(first, found);
    }
  }
}

}  // namespace bench
