// Random lives of queues, compared with the naive model after every operation; a life that fails is
// shrunk to a few operations.
//   queue_model --engine sqlite --operations 1000 --seed 1
//     --length N        operations of one life at most (300)
//     --check-every N   compares all tables after every so many operations (1), and at the end
//     --shrink no       a life that fails is told as it was
#include "play.hpp"

#include <cstdlib>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <rapidcheck.h>

namespace {

using model::op;
using model::verb;

struct wishes {
  std::string engine = "sqlite";
  std::int64_t operations = 1000;
  std::uint64_t seed = 1;
  int length = 300;
  int check_every = 1;
  bool shrinks = true;
};

/// What a queue meets, more often what it meets more often.
rc::Gen<op> an_operation() {
  return rc::gen::construct<op>(rc::gen::weightedElement<verb>({{6, verb::add},
                                                                {4, verb::import},
                                                                {5, verb::remove},
                                                                {14, verb::claim},
                                                                {6, verb::suspect},
                                                                {14, verb::finish},
                                                                {4, verb::perform},
                                                                {4, verb::join},
                                                                {4, verb::flush},
                                                                {6, verb::complete},
                                                                {6, verb::complete_and_claim},
                                                                {2, verb::drop},
                                                                {4, verb::crash},
                                                                {10, verb::ask},
                                                                {1, verb::pause},
                                                                {2, verb::round},
                                                                {9, verb::forward},
                                                                {2, verb::change},
                                                                {3, verb::upkeep}}),
                                rc::gen::inRange<std::uint32_t>(0, 1U << 30U),
                                rc::gen::inRange<std::uint32_t>(0, 1U << 30U),
                                rc::gen::inRange<std::uint32_t>(0, model::cuts));
}

/// One life of a queue. Throws where it does not go as the model says.
void live(model::stage& on, std::uint32_t options, std::vector<op> const& script, int check_every) {
  model::play one(on, options, check_every);
  std::size_t at = 0;
  try {
    for (; at < script.size(); ++at) one.act(script[at]);
    one.finish();
  } catch (std::exception const& e) {
    std::ostringstream out;
    out << "after operation " << at;
    if (at < script.size()) out << ", " << script[at];
    throw model::disagreement(out.str() + ": " + e.what());
  }
}

bool lives(wishes const& how, support::engine const& engine) {
  constexpr int lives_a_database = 40;
  std::int64_t done = 0;
  std::int64_t count = 0;
  bool failed = false;
  for (auto seed = how.seed; done < how.operations; ++seed) {
    model::stage on(engine);
    rc::detail::TestParams params;
    params.seed = seed;
    params.maxSuccess = lives_a_database;
    params.disableShrinking = !how.shrinks;
    rc::detail::TestMetadata about;
    about.id = about.description = "queues on " + how.engine;
    auto const result = rc::detail::checkTestable(
        [&] {
          if (done >= how.operations && !failed) return;
          auto const options = *rc::gen::resize(100, rc::gen::inRange<std::uint32_t>(0, 1U << 30U));
          auto const script = *rc::gen::resize(
              how.length,
              rc::gen::container<std::vector<op>>(rc::gen::resize(100, an_operation())));
          done += static_cast<std::int64_t>(script.size());
          ++count;
          try {
            live(on, options, script, how.check_every);
          } catch (std::exception const& e) {
            if (!failed) std::cerr << e.what() << "\nshrinking " << script.size() << " ...\n";
            failed = true;  // from now on what is lived is shorter
            throw;
          }
        },
        about, params);
    if (!result.is<rc::detail::SuccessResult>()) {
      rc::detail::printResultMessage(result, std::cerr);
      std::cerr << "\nagain: queue_model --engine " << how.engine << " --operations "
                << how.operations << " --length " << how.length << " --check-every "
                << how.check_every << " --seed " << seed << '\n';
      return false;
    }
  }
  std::cout << how.engine << ": " << done << " operations in " << count
            << " lives, all as the model"
            << " says (seeds from " << how.seed << ")\n";
  return true;
}

wishes wishes_of(int argc, char** argv) {
  wishes out;
  for (int i = 1; i + 1 < argc; i += 2) {
    std::string const name = argv[i];
    std::string const value = argv[i + 1];
    if (name == "--engine") out.engine = value;
    if (name == "--operations") out.operations = std::stoll(value);
    if (name == "--seed") out.seed = std::stoull(value);
    if (name == "--length") out.length = std::stoi(value);
    if (name == "--shrink") out.shrinks = value != "no";
    if (name == "--check-every") out.check_every = std::stoi(value);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  auto const how = wishes_of(argc, argv);
  ::setenv("DAYBOOK_TEST_ENGINES", how.engine.c_str(), 1);
  ::setenv("RC_PARAMS", ("seed=" + std::to_string(how.seed)).c_str(), 1);  // it is printed
  auto const engines = support::engines();
  if (engines.size() != 1) {
    std::cerr << "queue_model: there is no engine " << how.engine << '\n';
    return 64;
  }
  try {
    return lives(how, engines.front()) ? 0 : 1;
  } catch (std::exception const& e) {
    std::cerr << "queue_model: " << e.what() << '\n';
    return 1;
  }
}
