#include "api/pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <fmt/format.h>

// g++ 12 has no #embed. Each file stands between two symbols.
#define DAYBOOK_EMBED(symbol, file)              \
  __asm__(                                       \
      ".pushsection .rodata\n"                   \
      ".global daybook_page_" #symbol            \
      "\n"                                       \
      "daybook_page_" #symbol                    \
      ":\n"                                      \
      ".incbin \"" DAYBOOK_CONSOLE_DIST "/" file \
      "\"\n"                                     \
      ".global daybook_page_" #symbol            \
      "_end\n"                                   \
      "daybook_page_" #symbol                    \
      "_end:\n"                                  \
      ".byte 0\n"                                \
      ".popsection\n");                          \
  extern "C" char const daybook_page_##symbol[]; \
  extern "C" char const daybook_page_##symbol##_end[]

DAYBOOK_EMBED(html, "index.html");
DAYBOOK_EMBED(js, "app.js");
DAYBOOK_EMBED(css, "app.css");
DAYBOOK_EMBED(svg, "app.svg");

namespace command {

namespace {

page_file file_of(std::string_view name, std::string_view type, char const* begin,
                  char const* end) {
  std::string_view const bytes(begin, static_cast<std::size_t>(end - begin));
  // FNV-1a: of two releases with the same bytes the browser keeps its copy.
  std::uint64_t hash = 14695981039346656037ULL;
  for (char const one : bytes) {
    hash = (hash ^ static_cast<unsigned char>(one)) * 1099511628211ULL;
  }
  return {name, type, bytes, fmt::format("\"{:016x}\"", hash)};
}

std::array<page_file, 4> const& files() {
  static std::array<page_file, 4> const all{
      file_of("index.html", "text/html; charset=utf-8", daybook_page_html, daybook_page_html_end),
      file_of("app.js", "text/javascript; charset=utf-8", daybook_page_js, daybook_page_js_end),
      file_of("app.css", "text/css; charset=utf-8", daybook_page_css, daybook_page_css_end),
      file_of("app.svg", "image/svg+xml", daybook_page_svg, daybook_page_svg_end)};
  return all;
}

}  // namespace

page_file const* find_page(std::string_view name) {
  if (name.empty()) name = "index.html";
  for (auto const& one : files()) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

}  // namespace command
