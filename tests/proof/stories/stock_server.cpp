// The stock system of the story: it answers for one product at a time, and badly. It is slow, lets
// nobody ask faster than its rate, fails now and then, and drops connections before or after it has
// made up its mind. It is away when it is killed.
//   stock_server PORT STOCK.db ASKED.log [--rate N] [--flaws PER-THOUSAND]
//
// GET /stock/CODE: the quantity, 404, 429 or 503. For the story's checks it appends a line for each
// quantity it gives: when, how (A: answered, L: the reply is dropped), the product, the quantity,
// and the request's X-Request-Id.
#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <httplib.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace {

using std::chrono::milliseconds;
using clock = std::chrono::steady_clock;

struct settings {
  int port = 0;
  std::string database;
  std::string log;
  int rate = 1000;  ///< answers a second
  int flaws = 0;    ///< of each kind, of a thousand requests
};

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

class stock {
 public:
  explicit stock(std::string const& file) {
    ::sqlite3* opened = nullptr;
    int const code = ::sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
    base_.reset(opened);
    if (code != SQLITE_OK) throw std::runtime_error(file + " cannot be opened");
    ::sqlite3_busy_timeout(opened, 10'000);
    ::sqlite3_stmt* made = nullptr;
    if (::sqlite3_prepare_v2(opened, "select quantity from stock where code = ?", -1, &made,
                             nullptr) != SQLITE_OK) {
      throw std::runtime_error(::sqlite3_errmsg(opened));
    }
    query_.reset(made);
  }
  std::optional<std::int64_t> quantity(std::string const& code) {
    std::lock_guard const alone(mutex_);
    ::sqlite3_bind_text(query_.get(), 1, code.data(), static_cast<int>(code.size()),
                        SQLITE_TRANSIENT);
    std::optional<std::int64_t> out;
    if (::sqlite3_step(query_.get()) == SQLITE_ROW) {
      out = ::sqlite3_column_int64(query_.get(), 0);
    }
    ::sqlite3_reset(query_.get());
    return out;
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<::sqlite3, decltype([](::sqlite3* of) { ::sqlite3_close(of); })> base_;
  std::unique_ptr<::sqlite3_stmt, decltype([](::sqlite3_stmt* of) { ::sqlite3_finalize(of); })>
      query_;
};

/// So many a second, and what was not used for a tenth of one.
class gate {
 public:
  explicit gate(int rate) : each_(std::chrono::nanoseconds(std::chrono::seconds(1)) / rate) {}
  bool passes() {
    std::lock_guard const alone(mutex_);
    auto const now = clock::now();
    if (free_ > now) return false;
    free_ = std::max(free_, now - milliseconds(100)) + each_;
    return true;
  }

 private:
  std::mutex mutex_;
  std::chrono::nanoseconds each_;
  clock::time_point free_;
};

class service {
 public:
  explicit service(settings const& how)
      : flaws_(how.flaws),
        stock_(how.database),
        gate_(how.rate),
        log_(::open(how.log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600)) {
    if (log_ < 0) throw std::runtime_error(how.log + " cannot be written");
  }

  void answer(httplib::Request const& asked, httplib::Response& to) {
    linger();
    if (!gate_.passes()) return refuse(to, 429);
    if (flawed()) return refuse(to, 503);
    if (flawed()) return drop(to);
    std::string const code = asked.matches[1];
    auto const quantity = stock_.quantity(code);
    if (!quantity) return refuse(to, 404);
    bool const lost = flawed();
    note(std::to_string(now_us()) + (lost ? " L " : " A ") + code + ' ' +
         std::to_string(*quantity) + ' ' + asked.get_header_value("X-Request-Id") + '\n');
    if (lost) return drop(to);
    to.set_content(std::to_string(*quantity), "text/plain");
  }

 private:
  /// 0 to 999.
  static int chance() {
    thread_local std::minstd_rand dice(std::random_device{}());
    return std::uniform_int_distribution<int>(0, 999)(dice);
  }
  [[nodiscard]] bool flawed() const { return chance() < flaws_; }
  /// Mostly some milliseconds; now and then a good while.
  void linger() const {
    bool const long_while = flaws_ > 0 && chance() < 2;
    std::this_thread::sleep_for(milliseconds(long_while ? 300 : 1 + chance() / 125));
  }
  static void refuse(httplib::Response& to, int status) { to.status = status; }
  /// Promises a byte more than it sends.
  static void drop(httplib::Response& to) {
    to.set_content_provider(2, "text/plain",
                            [](std::size_t, std::size_t, httplib::DataSink&) { return false; });
  }
  void note(std::string const& line) const {
    if (::write(log_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      std::fputs("stock_server: the log cannot be written\n", stderr);
      std::_Exit(1);
    }
  }

  int flaws_;
  stock stock_;
  gate gate_;
  int log_;
};

settings read_arguments(std::vector<std::string> const& words) {
  if (words.size() < 3) throw std::runtime_error("see the head of stock_server.cpp");
  settings out{std::stoi(words[0]), words[1], words[2]};
  for (std::size_t at = 3; at + 1 < words.size(); at += 2) {
    if (words[at] == "--rate") out.rate = std::stoi(words[at + 1]);
    if (words[at] == "--flaws") out.flaws = std::stoi(words[at + 1]);
  }
  return out;
}

}  // namespace

int main(int count, char** words) try {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto const how = read_arguments({words + 1, words + count});
  service serves(how);
  httplib::Server server;
  // A connection that is kept has a thread: more of them than there are who ask.
  server.new_task_queue = [] { return new httplib::ThreadPool(64); };
  server.set_keep_alive_max_count(1'000'000);
  server.Get(R"(/stock/([^/]+))", [&](auto const& asked, auto& to) { serves.answer(asked, to); });
  if (server.listen("127.0.0.1", how.port)) return 0;
  throw std::runtime_error("port " + std::to_string(how.port) + " is taken");
} catch (std::exception const& e) {
  std::fprintf(stderr, "stock_server: %s\n", e.what());
  return 1;
}
