// What the benchmarks' programs share: words of their command lines, and the middle of figures.
// Thread safety: any thread may call.
#pragma once

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace bench {

inline double middle(std::vector<double> of) {
  if (of.empty()) return 0;
  std::sort(of.begin(), of.end());
  auto const half = of.size() / 2;
  return of.size() % 2 == 1 ? of[half] : (of[half - 1] + of[half]) / 2;
}

/// "a,b,c"
inline std::vector<std::string> words_of(std::string const& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string one; std::getline(in, one, ',');) out.push_back(one);
  return out;
}

template <class Number>
std::vector<Number> numbers_of(std::string const& text) {
  std::vector<Number> out;
  for (auto const& one : words_of(text)) out.push_back(static_cast<Number>(std::stoll(one)));
  return out;
}

inline std::set<std::string> set_of(std::string const& text) {
  auto const words = words_of(text);
  return {words.begin(), words.end()};
}

}  // namespace bench
