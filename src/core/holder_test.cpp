#include "core/holder.hpp"

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace daybook {
namespace {

std::shared_ptr<core::in_hand> hand(std::string process, std::string key) {
  auto made = std::make_shared<core::in_hand>();
  made->process = std::move(process);
  made->key = std::move(key);
  return made;
}

TEST(incarnation, tells_the_steps_in_hand) {
  core::incarnation who("uuid");
  auto const one = hand("p", "k");
  auto const two = hand("p", "k2");
  who.add(one);
  who.add(two);
  EXPECT_EQ(who.lines(), "");
  who.set_step(*one, "load");
  EXPECT_EQ(who.lines(), "p\tk\tload\n");
  who.set_step(*two, "post it");
  EXPECT_EQ(core::step_in_hand(who.lines(), "p", "k"), "load");
  EXPECT_EQ(core::step_in_hand(who.lines(), "p", "k2"), "post it");
  EXPECT_EQ(core::step_in_hand(who.lines(), "p", "other"), "");
  EXPECT_EQ(core::step_in_hand(who.lines(), "", ""), "");
  EXPECT_EQ(core::step_in_hand("", "p", "k"), "");
  who.set_step(*one, "");
  EXPECT_EQ(core::step_in_hand(who.lines(), "p", "k"), "");
  who.remove(two);
  EXPECT_EQ(who.lines(), "");
}

TEST(incarnation, the_lines_fit_into_the_row_and_are_whole) {
  core::incarnation who("uuid");
  std::vector<std::shared_ptr<core::in_hand>> held;
  for (int i = 0; i < 100; ++i) {
    held.push_back(hand(std::string(255, 'p'), std::to_string(i)));
    who.add(held.back());
    who.set_step(*held.back(), std::string(255, 's'));
  }
  auto const lines = who.lines();
  EXPECT_LE(lines.size(), 4000U);
  EXPECT_GT(lines.size(), 3000U);
  EXPECT_TRUE(lines.ends_with("s\n"));
}

TEST(incarnation, dies_once_and_for_all_it_holds) {
  core::incarnation who("uuid");
  auto const one = hand("p", "k");
  who.add(one);
  who.suspect();
  EXPECT_TRUE(one->lost.stop_requested());
  EXPECT_FALSE(who.dead());
  auto const two = hand("p", "k2");
  who.add(two);
  who.die();
  EXPECT_TRUE(two->lost.stop_requested());
  EXPECT_TRUE(who.dead());
}

TEST(incarnation, counts_from_when_the_renewal_was_sent) {
  core::incarnation who("uuid");
  auto const now = base::boot_clock::now();
  who.renewed(now + std::chrono::hours(1));
  EXPECT_LT(who.since_renewal().count(), 0);
  who.renewed(now);  // one that was sent earlier and came later does not take back
  EXPECT_LT(who.since_renewal().count(), 0);
}

}  // namespace
}  // namespace daybook
