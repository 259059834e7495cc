#include "proof/stories/stock_sides.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>
#include <utility>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <sys/socket.h>
#include <unistd.h>

namespace story {

using std::chrono_literals::operator""ms;

namespace {

constexpr int categories = 40;

/// One that nobody has just now.
int free_port() {
  int const socket = ::socket(AF_INET, SOCK_STREAM, 0);
  ::sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<::sockaddr*>(&at);
  bool const bound =
      ::bind(socket, address, size) == 0 && ::getsockname(socket, address, &size) == 0;
  ::close(socket);
  if (!bound) throw std::runtime_error("no port is free");
  return ntohs(at.sin_port);
}

/// Where `rows` are there already, they stay.
std::string insertion(support::engine const& on, std::string const& rows) {
  auto const* const ignoring = on.name == "mariadb" ? "ignore " : "";
  auto const* const beside = on.name == "mariadb" ? "" : " on conflict (code) do nothing";
  return std::string("insert ") + ignoring + "into product (code, category) values " + rows +
         beside;
}

std::string row_of(int product) {
  return "('" + code_of(product) + "', " + std::to_string(product % categories) + ")";
}

}  // namespace

std::int64_t now_us() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string code_of(int product) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "P-%06d", product);
  return text.data();
}

warehouse::warehouse(std::filesystem::path const& folder, int products)
    : folder_(folder), products_(products), port_(free_port()) {
  std::filesystem::create_directories(folder_);
  support::raw_connection on("sqlite:" + file());
  on.execute("pragma journal_mode = wal");
  on.execute("create table stock (code text not null primary key, quantity integer not null)");
  on.execute("with recursive n (i) as (select 0 union all select i + 1 from n where i + 1 < " +
             std::to_string(products) +
             ") insert into stock select printf('P-%06d', i), abs(random() % 1000) from n");
}

void warehouse::open(int flaws) {
  server_ = std::make_unique<torture::child>(
      std::vector<std::string>{STOCK_SERVER, std::to_string(port_), file(), log(), "--rate", "1500",
                               "--flaws", std::to_string(flaws)});
}

void warehouse::away_for(std::chrono::milliseconds length, int flaws) {
  span_us away{now_us(), 0};
  server_.reset();
  std::this_thread::sleep_for(length);
  open(flaws);
  away.to = now_us();
  outages_.push_back(away);
}

void warehouse::count_anew(bool on) {
  counting_ = {};
  if (!on) return;
  counting_ = std::jthread([this](std::stop_token const& stop) {
    support::raw_connection base("sqlite:" + file());
    base.execute("pragma busy_timeout = 10000");
    for (std::minstd_rand dice(1); !stop.stop_requested(); std::this_thread::sleep_for(5ms)) {
      base.execute("update stock set quantity = quantity + 1 where code = '" +
                   code_of(static_cast<int>(dice() % static_cast<unsigned>(products_))) + "'");
    }
  });
}

std::map<std::string, std::int64_t> warehouse::quantities() const {
  std::map<std::string, std::int64_t> out;
  support::raw_connection base("sqlite:" + file());
  auto* const sqlite = std::get<::sqlite3*>(base.native());
  ::sqlite3_exec(
      sqlite, "select code, quantity from stock",
      [](void* to, int, char** cells, char**) {
        static_cast<decltype(out)*>(to)->emplace(cells[0], std::stoll(cells[1]));
        return 0;
      },
      &out, nullptr);
  return out;
}

void changes::note(std::string const& code, span_us when) {
  std::lock_guard const alone(mutex_);
  of_[code].push_back(when);
}

void changes::note_all(span_us when) {
  std::lock_guard const alone(mutex_);
  of_all_.push_back(when);
}

bool changes::any(std::string const& code, std::int64_t from, std::int64_t to) const {
  auto const meets = [&](span_us const& one) { return one.from <= to && from <= one.to; };
  std::lock_guard const alone(mutex_);
  if (std::any_of(of_all_.begin(), of_all_.end(), meets)) return true;
  auto const found = of_.find(code);
  return found != of_.end() && std::any_of(found->second.begin(), found->second.end(), meets);
}

shop::shop(support::engine const& on, support::fresh_database const& database, int products,
           unsigned seed)
    : on_(&on), url_(database.url()), products_(products), dice_(seed) {}

support::raw_connection shop::connect() const {
  support::raw_connection out(url_);
  if (on_->name == "sqlite") {
    out.execute("pragma busy_timeout = 20000");
    out.execute("pragma foreign_keys = on");
  }
  return out;
}

int shop::up_to(int most) { return std::uniform_int_distribution<int>(0, most)(dice_); }

/// Not while a category is given up: its products have none for a moment.
void shop::put(support::raw_connection& on, std::string const& rows) {
  std::lock_guard const alone(categories_);
  on.execute(insertion(*on_, rows));
}

/// Every `step`th of all codes, from one on.
void shop::insert(support::raw_connection& on, int from, int step) {
  constexpr int at_once = 500;
  std::string rows;
  int count = 0;
  auto const flush = [&] {
    if (!rows.empty()) put(on, rows);
    rows.clear();
    count = 0;
  };
  for (int at = from; at < 2 * products_; at += step) {
    rows += (rows.empty() ? "" : ", ") + row_of(at);
    if (++count == at_once) flush();
  }
  flush();
}

void shop::open() {
  auto on = connect();
  std::ifstream file(SHOP_TABLES);
  for (std::string one; std::getline(file, one, ';') && one.find("create") != std::string::npos;) {
    on.execute(one);
  }
  for (int at = 0; at < categories; ++at) {
    on.execute("insert into category (id) values (" + std::to_string(at) + ")");
  }
  insert(on, 0, 2);
}

void shop::import_anew() {
  auto on = connect();
  span_us when{now_us(), 0};
  auto const* const all = on_->name == "sqlite" ? "delete from product" : "truncate table product";
  on.execute(all);
  insert(on, 0, 2);
  insert(on, 1, 40);
  when.to = now_us();
  touched_.note_all(when);
  std::lock_guard const alone(mutex_);
  ++counts_["truncated"];
}

void shop::import_some() {
  auto on = connect();
  span_us when{now_us(), 0};
  on.execute("delete from product where category = 3");
  std::string rows;
  for (int i = 0; i < 20; ++i) {
    auto const product = 4 + categories * i;
    if (product < 2 * products_) rows += (rows.empty() ? "" : ", ") + row_of(product);
  }
  on.execute("delete from product where category = 4");
  put(on, rows);
  when.to = now_us();
  for (int at = 3; at < 2 * products_; at += categories) {
    touched_.note(code_of(at), when);
    touched_.note(code_of(at + 1), when);
  }
  std::lock_guard const alone(mutex_);
  ++counts_["imported behind the triggers' back"];
}

void shop::once(support::raw_connection& on) {
  auto const product = up_to(2 * products_ - 1);
  auto const other = up_to(2 * products_ - 1);
  auto const chance = up_to(99);
  auto const code = "'" + code_of(product) + "'";
  std::vector<int> met{product};
  std::string what;
  std::vector<std::string> words;
  std::unique_lock no_import(categories_, std::defer_lock);
  if (chance < 45) {
    what = "came";
    words = {"insert into product (code, category) values " + row_of(product)};
  } else if (chance < 80) {
    what = "went";
    words = {"delete from product where code = " + code};
  } else if (chance < 95) {
    what = "renamed";
    met.push_back(other);
    words = {"update product set code = '" + code_of(other) +
             "', category = " + std::to_string(other % categories) + " where code = " + code};
  } else if (chance < 99) {
    // A row that was there goes without a word on SQLite, and on MariaDB with one.
    what = "replaced";
    words = {on_->name == "postgresql"
                 ? insertion(*on_, row_of(product))
                 : "replace into product (code, category) values " + row_of(product)};
  } else {
    what = "category given up";
    auto const id = std::to_string(product % categories);
    for (int at = product % categories; at < 2 * products_; at += categories) met.push_back(at);
    words = {"begin", "delete from category where id = " + id,
             "insert into category (id) values (" + id + ")", "commit"};
    no_import.lock();
  }
  span_us when{now_us(), 0};
  bool done = true;
  try {
    for (auto const& one : words) on.execute(one);
  } catch (std::runtime_error const&) {
    done = false;  // there already; or the database is away, and perhaps it was done
  }
  when.to = now_us();
  for (auto const at : met) touched_.note(code_of(at), when);
  if (!done && words.size() > 1) throw std::runtime_error("its transaction is open still");
  std::lock_guard const alone(mutex_);
  if (done) ++counts_[what];
}

void shop::trade(bool on) {
  people_ = {};
  if (!on) return;
  people_ = std::jthread([this](std::stop_token const& stop) {
    std::unique_ptr<support::raw_connection> to;
    while (!stop.stop_requested()) {
      try {
        if (!to) to = std::make_unique<support::raw_connection>(connect());
        to->execute("select 1");
        once(*to);
        std::this_thread::sleep_for(50ms);
      } catch (std::runtime_error const&) {
        to.reset();  // the database is away
        std::this_thread::sleep_for(100ms);
      }
    }
  });
}

std::string shop::counts() const {
  std::lock_guard const alone(mutex_);
  std::string out;
  for (auto const& [what, times] : counts_) {
    out += (out.empty() ? "" : ", ") + what + " " + std::to_string(times);
  }
  return out;
}

}  // namespace story
