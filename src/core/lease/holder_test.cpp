#include "core/lease/holder.hpp"

#include <algorithm>
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

std::string step_of(core::incarnation const& holder, std::string_view process,
                    std::string_view key) {
  auto const line = core::find_line(holder.lines(), process, key);
  return line ? line->step : "none";
}

TEST(incarnation, tells_the_steps_in_hand) {
  core::incarnation who("uuid");
  auto const one = hand("p", "k");
  auto const two = hand("p", "k2");
  who.add(one);
  who.add(two);
  EXPECT_EQ(who.lines(), "");
  who.set_step(*one, "load");
  EXPECT_TRUE(who.lines().starts_with("p\tk\tload\t")) << who.lines();
  who.set_step(*two, "post it");
  EXPECT_EQ(step_of(who, "p", "k"), "load");
  EXPECT_EQ(step_of(who, "p", "k2"), "post it");
  EXPECT_EQ(step_of(who, "p", "other"), "none");
  EXPECT_EQ(step_of(who, "", ""), "none");
  who.set_step(*one, "");
  EXPECT_EQ(step_of(who, "p", "k"), "none");
  who.remove(two);
  EXPECT_EQ(who.lines(), "");
}

TEST(incarnation, tells_how_far_the_work_is) {
  core::incarnation who("uuid");
  auto const one = hand("p", "k");
  who.add(one);
  who.set_progress(*one, {3, 10, "third file"});
  auto const between_steps = core::find_line(who.lines(), "p", "k");
  ASSERT_TRUE(between_steps && between_steps->how_far);
  EXPECT_EQ(between_steps->step, "");
  EXPECT_EQ(between_steps->how_far->done, 3);
  EXPECT_EQ(between_steps->how_far->total, 10);
  EXPECT_EQ(between_steps->how_far->note, "third file");
  who.set_step(*one, "load");
  one->step_began -= std::chrono::seconds(90);
  auto const in_step = core::find_line(who.lines(), "p", "k");
  ASSERT_TRUE(in_step && in_step->how_far);
  EXPECT_EQ(in_step->step, "load");
  EXPECT_GE(in_step->step_for, std::chrono::seconds(90));
  EXPECT_LT(in_step->step_for, std::chrono::minutes(10));
}

TEST(in_hand_lines, of_an_older_release_have_fewer_fields) {
  auto const found = core::find_line("p\tk\tload\nq\tk\tsend\n", "q", "k");
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, "send");
  EXPECT_FALSE(found->how_far);
  EXPECT_EQ(found->step_for.count(), 0);
  EXPECT_FALSE(core::find_line("", "p", "k"));
  EXPECT_FALSE(core::find_line("\n\n", "", ""));
}

TEST(incarnation, asks_what_is_past_its_deadline_to_stop) {
  core::incarnation who("uuid");
  auto const late = hand("p", "late");
  auto const in_time = hand("p", "in time");
  auto const now = base::boot_clock::now();
  late->deadline = now - std::chrono::seconds(10);
  in_time->deadline = now + std::chrono::hours(1);
  who.add(late);
  who.add(in_time);
  EXPECT_TRUE(who.past_deadline(std::chrono::minutes(1)).empty());
  EXPECT_TRUE(late->lost.stop_requested());
  EXPECT_FALSE(in_time->lost.stop_requested());
  auto const over = who.past_deadline(std::chrono::seconds(1));
  ASSERT_EQ(over.size(), 1U);
  EXPECT_EQ(over[0].key, "late");
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
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\t') % 4, 0);
  EXPECT_LE(lines.size(), 4000U);
  EXPECT_GT(lines.size(), 3000U);
  EXPECT_TRUE(lines.ends_with("\n"));
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
