// daybook daemon: serves the schedules and queues of daybook.toml until it is told to stop.
#include "attempt/exit_watchdog.hpp"
#include "cli/exit.hpp"
#include "cli/format.hpp"
#include "cli/verbs.hpp"
#include "config/options.hpp"
#include "config/settings.hpp"
#include "daemon/alerts.hpp"
#include "daemon/declarations.hpp"
#include "daemon/drain.hpp"
#include "daemon/serve.hpp"
#include "daemon/service_manager.hpp"
#include "output/journal.hpp"
#include "output/log_observer.hpp"
#include "output/work_told.hpp"
#include "process/command_advice.hpp"
#include "process/signals.hpp"

#include <daybook/book.hpp>
#include <daybook/node.hpp>
#include <daybook/version.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <unistd.h>

namespace command {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto help_after = R"(
What it serves is [[schedule]], [[queue]], [[plan]] and [[aggregate]] of daybook.toml; the manual
daybook.toml(5) has their keys. They are made in the book, or changed to what the file says. Any
number of daemons may serve the same file.

TERM, INT: nothing more is launched; the commands get TERM at once, and KILL after --grace. A tick
or a task whose command did not succeed is handed back: any daemon goes on with it. A second one:
KILL now.
HUP: reads the file again. With a mistake in it the old one stays in force.
$NOTIFY_SOCKET and $WATCHDOG_USEC of systemd are heeded; its unit wants KillMode=mixed.

Exit codes: 0 stopped, or nothing is due any more (--drain), or the file is right (--check); 1 the
same, and something has failed that is not tried again by itself (--drain); 64 usage, 65 a mistake
in the file, or a command that is not there (--check), 66 no file, 69 database not reachable at the
start, 77 not permitted, 78 no book or wrong setup, 128+N --drain was ended by signal N.)";

struct daemon_request {
  database where;
  settings file;
  std::string path = usual_settings;
  journal::form form = journal::form::text;
  bool drain = false;
  bool check = false;
  int threads = daybook::node_options{}.threads;
  milliseconds poll = daybook::node_options{}.poll;
  milliseconds lease = daybook::book_options{}.lease;
  milliseconds grace = std::chrono::seconds{10};
  std::size_t output_limit = 64;  ///< KiB of each command's output, logged in a minute
};

/// On failure: complaint, also (66) where there is no such file, and (65) where it is empty:
/// whoever writes it anew may have come no further yet.
settings must_read(std::string const& path) {
  std::error_code unknown;
  if (std::filesystem::status(path, unknown).type() == std::filesystem::file_type::not_found) {
    throw complaint(
        exit_code::missing,
        fmt::format("there is no file {}; write one, or name it with --config", printable(path)));
  }
  auto out = read_settings(path);
  if (out.is_empty) {
    throw complaint(exit_code::bad_data,
                    fmt::format("{}: there is nothing in it: it is being written, perhaps; a file "
                                "that declares nothing names a database at least",
                                printable(path)));
  }
  return out;
}

daemon_request read_daemon(arguments const& given) {
  daemon_request out;
  database_options where;
  std::string form = "text";
  CLI::App app{
      "Serves the schedules and queues of daybook.toml: each tick and each task is one daemon's.",
      "daybook daemon"};
  app.footer(help_after);
  app.add_option("--config", out.path, "The file (daybook.toml)")->type_name("FILE");
  app.add_flag("--check", out.check, "Look at the file and for its commands, and end");
  app.add_flag("--drain", out.drain, "Work until nothing is due, and end");
  app.add_option("--log", form, "One line for each event, as text or json (text)")
      ->type_name("FORM")
      ->check(CLI::IsMember({"text", "json"}));
  app.add_option("--threads", out.threads, "At most so many commands of schedules at once (4)")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  app.add_option("--log-limit", out.output_limit,
                 "At most so many KiB of each command's output are logged in a minute (64)")
      ->type_name("KIB")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1'000'000}));
  add_duration(app, "--poll", out.poll,
               "How often to look for what others left or changed, 10ms to 1h (5s)");
  add_duration(app, "--lease", out.lease,
               "How long we are presumed alive after a renewal, 1s to 1d (30s)");
  add_duration(app, "--grace", out.grace,
               "How long commands have to end when we stop: TERM, then KILL (10s)");
  add_database_options(app, where);
  parse(app, given);
  check_lease("daemon", out.lease);
  if (out.poll < milliseconds{10} || out.poll > std::chrono::hours{1}) {
    throw complaint(exit_code::usage,
                    fmt::format("daemon: --poll {}: from 10ms to 1h", text_of(out.poll)));
  }
  out.form = form == "json" ? journal::form::json : journal::form::text;
  out.file = must_read(out.path);
  out.where = resolve(where, out.file.database);
  return out;
}

/// One line for each thing that is wrong. A command that is not there may come yet, so that only
/// whoever asks is refused.
int check(daemon_request const& request) {
  bool missing = false;
  for (auto const& one : advice_on_commands(request.file)) {
    say(fmt::format("{}: {}: {}", one.place, printable(one.owner), one.text));
    missing = missing || one.kind == command_advice::hazard::missing_program;
  }
  return missing ? exit_code::bad_data : exit_code::done;
}

class service {
 public:
  explicit service(daemon_request request)
      : request_(std::move(request)),
        log_(request_.form),
        watch_(log_),
        book_(open(request_, watch_)),
        site_{
            request_.where,    log_,
            request_.grace,    std::min<milliseconds>(std::chrono::seconds{5}, request_.lease / 6),
            kill_.get_token(), request_.output_limit * 1024},
        node_(book_, {.threads = request_.threads, .poll = request_.poll}),
        worked_(node_, log_),
        served_(book_, node_, site_, worked_),
        alerts_(book_, node_, site_),
        declared_(book_, log_,
                  std::min<milliseconds>(request_.poll * 12, std::chrono::minutes{10})) {}
  service(service const&) = delete;
  service& operator=(service const&) = delete;
  /// However it ends: nobody is waited for who was not asked to end.
  ~service() {
    stopping_ = true;
    alerts_.stop();
    node_.stop();
  }

  int work() {
    worked_.look_at(request_.file);
    if (request_.drain) {
      served_.obey_without_work(request_.file);
    } else {
      served_.obey(request_.file, request_.poll);
      declared_.settle(request_.file);
      alerts_.settle(request_.file);
    }
    advise(request_.file);
    log_.info("ready", {{"version", DAYBOOK_VERSION},
                        {"database", book_.url()},
                        {"file", request_.path},
                        {"schedules", request_.file.schedules.size()},
                        {"queues", request_.file.queues.size()},
                        {"aggregates", request_.file.aggregates.size()},
                        {"plans", request_.file.plans.size()},
                        {"pid", ::getpid()}});
    manager_.ready();
    return request_.drain ? drain() : serve();
  }

 private:
  static daybook::book open(daemon_request const& request, daybook::observer& watch) {
    daybook::book_options options;
    options.lease = request.lease;
    options.observer = &watch;
    return open_book(request.where, options);
  }

  int serve() {
    node_.start();
    while (stopped_by_ == 0) {
      look_at_signals();
      look_at_reload();
      worked_.now_and_then();
      if (stopped_by_ == 0) rest();
    }
    stop([this] {
      alerts_.stop();
      node_.stop();
      if (reload_.valid()) reload_.wait();
      served_.wait_for_dropped();
    });
    worked_.now();
    return exit_code::done;
  }

  int drain() {
    draining all(book_, node_, request_.file, site_, request_.poll);
    auto drained = std::async(std::launch::async, [&all] { return all.work(); });
    while (stopped_by_ == 0 && !is_ready(drained)) {
      look_at_signals();
      if (stopped_by_ == 0) rest();
    }
    if (stopped_by_ != 0) {
      stop([&] {
        all.stop();
        drained.wait();
      });
    }
    auto const attempts = drained.get();
    auto const failed = watch_.failures();
    log_.info("drained", {{"attempts", attempts},
                          {"ticks_failed", failed.ticks},
                          {"runs_failed", failed.runs},
                          {"tasks_failed", failed.tasks},
                          {"tasks_dead", failed.dead},
                          {"unknown", failed.unknown}});
    if (stopped_by_ != 0) return exit_code::signalled + stopped_by_;
    return failed.sum() == 0 ? exit_code::done : exit_code::differs;
  }

  void look_at_signals() {
    while (auto const one = caught_.next()) {
      switch (one->number) {
        case SIGTERM:
        case SIGINT:
        case SIGQUIT: stopped_by_ = one->number; break;
        case SIGHUP: reload_at_ = clock::now(); break;
        case SIGTSTP: stop_ourselves(); break;
        default: break;  // the children's ends are seen by who waits for them
      }
    }
  }

  /// Reads the file in this thread and obeys it in another, for the database may be away.
  void look_at_reload() {
    if (reload_.valid()) {
      if (!is_ready(reload_)) return;
      // Asked for meanwhile, it is read again at once.
      if (!reload_.get() && !reload_at_) reload_at_ = clock::now() + between_reloads;
      manager_.ready();
    }
    if (!reload_at_ || *reload_at_ > clock::now() || request_.drain) return;
    reload_at_.reset();
    manager_.reloading();
    try {
      auto file = must_read(request_.path);
      worked_.look_at(file);
      reload_ =
          std::async(std::launch::async, [this, file = std::move(file)] { return obey(file); });
      return;
    } catch (complaint const& e) {
      not_reloaded("the old one stays", e.what());
    } catch (std::exception const& e) {
      not_reloaded("the old one stays until it is tried again", e.what());
      reload_at_ = clock::now() + between_reloads;
    }
    manager_.ready();
  }

  /// False: it is to be tried again.
  bool obey(settings const& file) {
    try {
      served_.obey(file, request_.poll);
      declared_.settle(file);
      alerts_.settle(file);
      advise(file);
      log_.info("reloaded", {{"file", request_.path},
                             {"schedules", file.schedules.size()},
                             {"queues", file.queues.size()},
                             {"aggregates", file.aggregates.size()},
                             {"plans", file.plans.size()}});
      return true;
    } catch (complaint const& e) {
      not_reloaded("the old one stays", e.what());
      return true;
    } catch (daybook::error const& e) {
      // What cannot be meant cannot be meant the next time either.
      bool const refused = e.kind() == daybook::error_code::bad_argument;
      not_reloaded(refused ? "the old one stays" : "tried again", e.what());
      return refused;
    } catch (std::exception const& e) {
      // No thread, say, or no memory.
      not_reloaded("what was served goes on; tried again", e.what());
      return false;
    }
  }

  void advise(settings const& file) {
    for (auto const& one : advice_on_commands(file)) {
      bool const missing = one.kind == command_advice::hazard::missing_program;
      log_.warning(missing ? "command_missing" : "command_unsafe",
                   {{"where", one.owner}, {"place", one.place}, {"text", one.text}});
    }
  }

  void not_reloaded(std::string const& then, std::string_view why) {
    if (stopping_) return;  // the node refuses it, for it stops
    log_.error("not_reloaded", {{"text", then + ": " + without_passwords(std::string(why))}});
  }

  /// Until a signal, or for a moment.
  void rest() {
    auto length =
        request_.drain || reload_.valid() || reload_at_ ? milliseconds{50} : milliseconds{60'000};
    if (auto const often = manager_.watchdog()) length = std::min(length, *often);
    caught_.wait(length);
    manager_.alive();
  }

  /// `end`: ends all that is served, and waits for that.
  template <class F>
  void stop(F const& end) {
    log_.info("stopping", {{"signal", name_of_signal(stopped_by_)}});
    declared_.stop();
    manager_.stopping();
    stopping_ = true;
    auto const stopped = in_another_thread(end);
    while (stopped.valid() && !is_ready(stopped)) {
      caught_.wait(milliseconds{50});
      while (auto const one = caught_.next()) {
        bool const again = one->number == SIGTERM || one->number == SIGINT;
        if (again || one->number == SIGQUIT) kill_.request_stop();
      }
      manager_.alive();
    }
    auto const counts = node_.counts();
    log_.info("stopped", {{"done", counts.done},
                          {"failed", counts.failed},
                          {"handed_back", counts.handed_back},
                          {"lost", counts.lost}});
  }

  /// For as long as it may take. Empty: no thread was to be had, and it is done.
  template <class F>
  std::future<void> in_another_thread(F const& end) {
    try {
      // The library tries for as long as a lease to hand back; a database that hangs gets no more.
      guard_.arm(
          request_.grace + request_.lease + std::chrono::seconds{10}, exit_code::unreachable,
          "the database does not answer; what is in hand is taken over when the lease is over");
      return std::async(std::launch::async, end);
    } catch (std::system_error const& e) {
      log_.warning("stopping",
                   {{"text", std::string("a second signal is not heeded: ") + e.what()}});
    }
    end();
    return {};
  }

  template <class T>
  static bool is_ready(std::future<T> const& future) {
    return future.wait_for(milliseconds{0}) == std::future_status::ready;
  }

  static constexpr milliseconds between_reloads = std::chrono::seconds{5};

  daemon_request request_;
  service_manager manager_;
  journal log_;
  log_observer watch_;
  exit_watchdog guard_;
  daybook::book book_;
  std::stop_source kill_;
  launch_site site_;
  daybook::node node_;  ///< after all that its handlers use: its end waits for them
  work_told worked_;
  served served_;
  alerts alerts_;
  declarations declared_;
  signals caught_;
  int stopped_by_ = 0;
  std::atomic<bool> stopping_ = false;  ///< nothing is reloaded any more
  std::optional<clock::time_point> reload_at_;
  std::future<bool> reload_;
};

}  // namespace

int daemon(arguments const& given) {
  // Whoever read our log may be gone; children get it as we were given it.
  std::signal(SIGPIPE, SIG_IGN);
  auto what = read_daemon(given);
  if (what.check) return check(what);
  service one(std::move(what));
  return one.work();
}

}  // namespace command
