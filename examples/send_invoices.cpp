// A month's invoices are drafted in the database, mailed, and paid out. This shows the three modes
// of steps, and the values that a run keeps between them.
//
//   send_invoices [URL]       the mail server fails once, and the bank is silent once
//
// On SQLite or PostgreSQL: it makes its tables in a transaction, which MariaDB cannot do.
#include <daybook/daybook.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace std::chrono_literals;

// --- The outside world, kept small. Nothing in it is ever rolled back ---

struct mail_server {
  bool answers = true;
  std::set<std::string> known;  // by key: this is how it drops duplicates
  std::vector<std::string> delivered;

  void send(std::string const& to, std::string const& key) {
    if (known.insert(key).second) delivered.push_back(to);
    if (!answers) throw std::runtime_error("the mail server does not answer");
  }
};

struct bank {
  bool answers = true;
  std::map<std::string, std::int64_t> transfers;  // by reference; twice is twice

  std::string transfer(std::string const& reference, std::int64_t cents) {
    if (cents == 0) throw daybook::not_done("the bank moves no empty sums");
    transfers[reference] += cents;
    if (!answers) throw std::runtime_error("the bank does not answer");
    return "receipt " + reference;
  }
  /// Empty: the bank does not say.
  std::optional<bool> has(std::string const& reference) {
    if (!answers) return std::nullopt;
    return transfers.contains(reference);
  }
};

struct world {
  mail_server mail;
  bank money;
  std::string rate = "1.09";
};

// --- The job ---

using step_result = daybook::step_result<void>;

daybook::start_result begin(daybook::book& book, std::string const& month) {
  return book.start(daybook::process{"invoices"}, daybook::key{month},
                    {.once = true, .deadline = 6h});
}

daybook::step_result<std::int64_t> draft(daybook::run& run, std::string const& month) {
  return run.step("draft", [&](daybook::transaction& tx) {
    return tx.exec(
        "insert into invoice(customer, cents) "
        "select customer, sum(cents) from sale where month = :month group by customer",
        month);
  });
}

step_result mail(daybook::run& run, mail_server& server, std::string const& customer) {
  return run.at_least_once("mail " + customer, [&](daybook::effect const& e) {
    server.send(customer, e.idempotency_key());
  });
}

daybook::step_result<std::string> pay(daybook::run& run, bank& money, std::int64_t cents) {
  auto const transfer = [&](daybook::effect const& e) {
    return money.transfer(e.idempotency_key(), cents);
  };
  auto const look = [&](daybook::effect const& e) {
    auto const found = money.has(e.idempotency_key());
    if (!found) return daybook::probe_result<std::string>::unknown();
    if (!*found) return daybook::probe_result<std::string>::not_done();
    return daybook::probe_result<std::string>::done("receipt " + e.idempotency_key());
  };
  return run.at_most_once("pay", transfer, look);
}

/// The command's exit codes: 0 done, 75 another has it, 79 lost, 80 a person decides.
int code_of(daybook::outcome what) { return what == daybook::outcome::unknown ? 80 : 79; }

int code_of(daybook::start_refusal why) {
  if (why == daybook::start_refusal::done_before) return 0;
  return why == daybook::start_refusal::unknown_outcome ? 80 : 75;
}

std::vector<std::string> customers_of(daybook::book& book) {
  std::vector<std::string> out;
  book.transact([&](daybook::transaction& tx) {
    out = tx.rows<std::string>("select customer from invoice order by customer");
  });
  return out;
}

int send_invoices(daybook::book& book, world& outside, std::string const& month) {
  auto attempt = begin(book, month);
  if (!attempt) return code_of(attempt.why());
  auto run = std::move(attempt).take();

  // The same rate in every attempt, whatever the market says by then.
  if (!run.stored_value("rate") && !run.set_value("rate", outside.rate)) return 79;

  auto const drafted = draft(run, month);
  if (!drafted) return code_of(drafted.what());

  std::int64_t mailed = 0;
  for (auto const& customer : customers_of(book)) {
    auto const sent = mail(run, outside.mail, customer);
    if (!sent) return code_of(sent.what());
    run.progress(++mailed, drafted.value(), "mailing");
  }

  auto const paid = pay(run, outside.money, 100 * drafted.value());
  if (!paid) return code_of(paid.what());
  auto const end = std::move(run).finish();
  return end ? 0 : code_of(end.what());
}

// --- A step by another process, which has the run's token ---

int print(daybook::book& book, std::string const& token, bool paper) {
  auto run = book.attach(token);
  if (!run) return 79;  // that attempt is over
  auto const may = run->intend("print");
  if (may.what() == daybook::outcome::skipped) return 0;
  if (!may) return code_of(may.what());
  if (!paper) return run->abandon("print") ? 1 : 79;  // nothing has happened: it may try again
  return run->record("print") ? 0 : 79;               // it is on paper
}

// --- A person ---

bool settle(daybook::book& book, std::string const& month, std::string const& receipt) {
  auto const settled =
      book.resolve(daybook::process{"invoices"}, daybook::key{month},
                   {.step = "pay", .effect = daybook::effect_state::done, .value = receipt},
                   {.actor = "anna", .reason = "it is in the bank's statement"});
  return settled == daybook::change_outcome::changed;
}

void tell(daybook::book& book, std::string const& month) {
  auto const found = book.find(daybook::process{"invoices"}, daybook::key{month});
  if (!found) return;
  std::cout << month << ": " << daybook::word_of(found->info.state) << '\n';
  for (auto const& step : found->steps) {
    std::cout << "  attempt " << step.attempt << "  " << daybook::word_of(step.mode) << "  "
              << step.name << '\n';
  }
  for (auto const& one : found->attempts) {
    if (!one.error.empty()) std::cout << "  attempt " << one.attempt << ": " << one.error << '\n';
  }
}

// --- What goes wrong here, and the result that must come out ---

void prepare(daybook::transaction& tx) {
  tx.exec(
      "create table if not exists sale(month varchar(7) not null, "
      "customer varchar(40) not null, cents bigint not null)");
  tx.exec(
      "create table if not exists invoice(customer varchar(40) not null, "
      "cents bigint not null)");
  tx.exec("delete from sale");
  tx.exec("delete from invoice");
  tx.exec(
      "insert into sale(month, customer, cents) values ('2026-11', 'ann', 1200), "
      "('2026-11', 'ben', 999), ('2026-11', 'ann', 300)");
}

void check(bool right, char const* what) {
  std::cout << (right ? "ok      " : "FAILED  ") << what << '\n';
  if (!right) throw std::runtime_error(what);
}

template <class F>
bool throws(F&& work) {
  try {
    static_cast<void>(work());
    return false;
  } catch (std::runtime_error const&) {
    return true;
  }
}

void what_goes_wrong(daybook::book& book) {
  std::string const month = "2026-11";
  world outside;
  auto const try_it = [&] { return send_invoices(book, outside, month); };

  outside.mail.answers = false;
  check(throws(try_it), "the first attempt sends a mail, and hears no answer");
  outside.mail.answers = true;
  outside.rate = "1.11";
  outside.money.answers = false;
  check(throws(try_it), "the second sends all, pays, and hears no answer");
  check(outside.mail.delivered.size() == 2, "each mail is delivered once");
  check(try_it() == 80, "whether it was paid nobody knows: no attempt until a person says so");
  check(settle(book, month, "receipt 7"), "a person has looked");
  outside.money.answers = true;
  check(try_it() == 0, "the third has nothing left to do but to finish");
  check(try_it() == 0, "there is no fourth");
  check(outside.money.transfers.size() == 1 && outside.money.transfers.begin()->second == 200,
        "it was paid once");
  check(book.find(daybook::process{"invoices"}, daybook::key{month})->values.at(0).value == "1.09",
        "all attempts had the same rate");
  tell(book, month);
}

void what_a_helper_does(daybook::book& book) {
  auto run = book.start(daybook::process{"printing"}).take();
  auto const token = run.token();
  check(print(book, token, false) == 1, "the helper had no paper");
  check(print(book, token, true) == 0, "it prints");
  check(print(book, token, true) == 0, "once");
  check(static_cast<bool>(std::move(run).finish()), "the run is finished by its holder");
  check(print(book, token, true) == 79, "and the token is void");
}

}  // namespace

int main(int count, char** words) try {
  daybook::book book(count > 1 ? words[1] : "sqlite::memory:");
  book.migrate();
  book.transact(prepare);
  what_goes_wrong(book);
  what_a_helper_does(book);
  return 0;
} catch (std::exception const& e) {
  std::cerr << "send_invoices: " << e.what() << '\n';
  return 70;
}
