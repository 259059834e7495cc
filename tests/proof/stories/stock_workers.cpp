#include "proof/stories/stock_workers.hpp"

#include <csignal>
#include <fstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace story {

using std::chrono_literals::operator""ms;
using std::chrono_literals::operator""s;

namespace {

/// Debian's, which has the databases' drivers: the first in PATH may be another.
constexpr auto python = "/usr/bin/python3";

/// The queue as all of them declare it; its members are the shop's products.
void write_file(std::filesystem::path const& file, stock_queue const& how, std::string const& url,
                std::string const& stock_url) {
  std::ofstream out(file);
  out << "database = \"" << url << "\"\n[[queue]]\nname = \"stock\"\n"
      << "period = \"" << how.period.count() << "s\"\ngrain = \"1s\"\n"
      << "attempts = 5\nbackoff = \"1s\"\nlongest_backoff = \"2s\"\ncrash_limit = 20\n"
      << "segment = 100\nwatch = { table = \"product\", key = \"code\" }\n"
      << "reconcile = \"*/2 * * * * *\"\n"
      << "workers = 3\nbatch = 20\ntimeout = \"30s\"\ndatabase_url = true\n"
      << "command = [\"" << python << "\", \"" << SYNC_STOCK_CHILD << "\", \"" << stock_url
      << "\"]\n";
}

}  // namespace

void worker::start() {
  process_ = std::make_unique<torture::child>(torture::dying_with_us(words_));
}

void worker::kill() {
  process_->send(SIGKILL);
  static_cast<void>(process_->wait(10s));
  start();
}

void worker::stop_for(std::chrono::milliseconds length) {
  process_->send(SIGSTOP);
  std::this_thread::sleep_for(length);
  process_->send(SIGCONT);
}

std::optional<std::string> worker::gone() {
  auto const change = process_->wait(0ms);
  if (change.what != torture::child::state::exited &&
      change.what != torture::child::state::killed) {
    return std::nullopt;
  }
  return words_[0] + " " + change.text() + ":\n" + process_->words();
}

void worker::end() {
  process_->send(SIGTERM);
  auto const change = process_->wait(60s);
  if (change.what == torture::child::state::exited && change.code == 0) return;
  throw std::runtime_error("after TERM " + words_[0] + " " + change.text() + ":\n" +
                           process_->words());
}

workforce::workforce(stock_queue const& how, std::string const& url, std::string const& stock_url,
                     std::filesystem::path const& folder, unsigned seed)
    : dice_(seed) {
  auto const file = folder / "daybook.toml";
  write_file(file, how, url, stock_url);
  for (int i = 0; i < how.daemons; ++i) {
    all_.push_back(std::make_unique<worker>(
        std::vector<std::string>{DAYBOOK_PROGRAM, "daemon", "--config", file.string(), "--lease",
                                 std::to_string(lease.count()) + "ms", "--poll", "250ms"}));
  }
  for (int i = 0; i < how.nodes; ++i) {
    all_.push_back(std::make_unique<worker>(std::vector<std::string>{
        SYNC_STOCK, url, "work", stock_url, std::to_string(lease.count() / 1000)}));
  }
}

void workforce::start() {
  for (auto const& one : all_) one->start();
}

void workforce::trouble() {
  auto& victim = *all_[dice_() % all_.size()];
  ++hurt_;
  if (dice_() % 2 == 0) {
    ++counts_["killed"];
    victim.kill();
  } else {
    ++counts_["stopped past the lease"];
    victim.stop_for(lease + std::chrono::milliseconds(dice_() % 1000));
  }
}

void workforce::kill_all() {
  counts_["killed"] += static_cast<int>(all_.size());
  hurt_ += static_cast<int>(all_.size());
  for (auto const& one : all_) one->kill();
}

void workforce::check() const {
  for (auto const& one : all_) {
    if (auto const why = one->gone()) throw std::runtime_error("it ended by itself: " + *why);
  }
}

std::set<std::int64_t> workforce::processes() const {
  std::set<std::int64_t> out;
  for (auto const& one : all_) out.insert(one->id());
  return out;
}

void workforce::end() {
  for (auto const& one : all_) one->end();
}

std::string workforce::counts() const {
  std::string out;
  for (auto const& [what, times] : counts_) {
    out += (out.empty() ? "" : ", ") + what + " " + std::to_string(times);
  }
  return out;
}

}  // namespace story
