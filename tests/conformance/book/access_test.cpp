// Tokens, sessions and one-time codes of a book; and a request that has the name of another.
#include "conformance/scheduling.hpp"

#include <daybook/access.hpp>

namespace conformance {
namespace {

using daybook::role;
using daybook::token_kind;

class accessing : public scheduling {
 protected:
  static daybook::audit_note anna() { return {.actor = "anna", .reason = "why"}; }
  std::string make(token_kind kind, std::optional<std::chrono::milliseconds> lifetime = {}) {
    return book_.make_token(
        {.name = "bob", .role = role::operate, .kind = kind, .lifetime = lifetime}, anna());
  }
  static std::string id_in(std::string const& text) { return text.substr(4, 16); }
};

TEST_P(accessing, a_token_is_known_by_its_text_alone) {
  auto const text = make(token_kind::token);
  EXPECT_EQ(text.size(), 93U);
  auto const found = book_.check_token(text);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "bob");
  EXPECT_EQ(found->role, role::operate);
  EXPECT_EQ(found->made_by, "anna");
  EXPECT_EQ(found->id, id_in(text));
  EXPECT_EQ(database_.query("select count(*) from daybook_token where hash like '%" +
                            text.substr(21, 32) + "%'"),
            "0");
  for (std::size_t at = 0; at < text.size(); ++at) {
    auto wrong = text;
    wrong[at] = wrong[at] == '0' ? '1' : '0';
    EXPECT_FALSE(book_.check_token(wrong)) << at;
  }
  EXPECT_FALSE(book_.check_token(""));
  EXPECT_FALSE(book_.check_token(text + "0"));
  EXPECT_FALSE(book_.check_token(text, token_kind::session)) << "of another kind";
}

TEST_P(accessing, a_token_is_refused_when_it_is_revoked_or_its_time_is_over) {
  auto const text = make(token_kind::token);
  auto const short_one = make(token_kind::session, 1h);
  EXPECT_TRUE(book_.check_token(short_one, token_kind::session));
  EXPECT_EQ(book_.tokens().size(), 2U);
  clock_.advance(61min);
  EXPECT_FALSE(book_.check_token(short_one, token_kind::session));
  EXPECT_TRUE(book_.revoke_token(id_in(text), anna()));
  EXPECT_FALSE(book_.revoke_token(id_in(text), anna()));
  EXPECT_FALSE(book_.check_token(text));
  EXPECT_TRUE(book_.tokens().empty());
  auto const changes = book_.changes(daybook::changes_query{.process = "tokens"});
  ASSERT_EQ(changes.size(), 3U);
  EXPECT_EQ(changes[0].action, "revoke");
  EXPECT_EQ(changes[0].key, id_in(text));
}

TEST_P(accessing, a_code_is_good_once) {
  auto const text = make(token_kind::code, 5min);
  EXPECT_FALSE(book_.check_token(text)) << "it is no token";
  EXPECT_TRUE(book_.check_token(text, token_kind::code));
  EXPECT_FALSE(book_.check_token(text, token_kind::code));
}

TEST_P(accessing, a_revoked_token_takes_its_sessions_with_it) {
  auto const text = make(token_kind::token);
  auto const session =
      book_.make_token({.name = "bob", .role = role::read, .kind = token_kind::session},
                       {.actor = "token:" + id_in(text), .reason = ""});
  EXPECT_TRUE(book_.revoke_token(id_in(text), anna()));
  EXPECT_FALSE(book_.check_token(session, token_kind::session));
}

TEST_P(accessing, old_ones_are_forgotten) {
  make(token_kind::code, 5min);
  clock_.advance(24h * 31);
  make(token_kind::token);
  EXPECT_EQ(database_.query("select count(*) from daybook_token"), "1");
}

TEST_P(accessing, options_out_of_their_range_are_refused) {
  EXPECT_EQ(fault_of([&] { book_.make_token({.name = ""}, anna()); }), error_code::bad_argument);
  EXPECT_EQ(fault_of([&] { make(token_kind::code, 1ms); }), error_code::bad_argument);
}

TEST_P(accessing, a_request_changes_something_once) {
  auto queue = book_.make_queue("stock", {});
  auto plan = anna();
  plan.request = "0123456789abcdef";
  EXPECT_TRUE(queue.pause(plan));
  queue.resume();
  EXPECT_EQ(fault_of([&] { queue.pause(plan); }), error_code::constraint);
  EXPECT_FALSE(queue.info().paused);
  auto const found = book_.changes(daybook::changes_query{.request = plan.request});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].action, "pause");
  EXPECT_EQ(found[0].process, "queue:stock");
}

TEST_P(accessing, changes_of_the_book_are_listed_by_what_is_asked) {
  auto queue = book_.make_queue("stock", {});
  queue.pause({.actor = "anna", .reason = ""});
  queue.resume({.actor = "bob", .reason = ""});
  auto const all = book_.changes(daybook::changes_query{});
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].actor, "bob");
  EXPECT_GT(all[0].id, all[1].id);
  EXPECT_EQ(book_.changes(daybook::changes_query{.before = all[0].id}).size(), 1U);
  EXPECT_EQ(book_.changes(daybook::changes_query{.action = "pause"}).size(), 1U);
  EXPECT_EQ(book_.changes(daybook::changes_query{.actor = "carl"}).size(), 0U);
  EXPECT_EQ(book_.changes(daybook::changes_query{.limit = 1}).size(), 1U);
  EXPECT_EQ(book_.changes(daybook::changes_query{.since = all[1].at + 24h}).size(), 0U);
}

DAYBOOK_ON_EVERY_ENGINE(accessing);

}  // namespace
}  // namespace conformance
