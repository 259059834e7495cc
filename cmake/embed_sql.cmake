# Writes sql/<dialect>/<room>.sql into one C++ source as raw literals, byte for byte.
#   cmake -DSOURCE_DIR=sql -DOUTPUT=embedded_sql.cpp -P embed_sql.cmake
file(GLOB files RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/*/*.sql)
list(SORT files)
set(out "// Generated from sql/. Do not edit.\n#include \"db/catalogue.hpp\"\n#include <string_view>\n\n")
string(APPEND out "namespace daybook {\ninline namespace v1 {\nnamespace db {\n\n")
# With "sv" nobody counts the letters: clang stops at a million of such steps.
string(APPEND out "using std::string_view_literals::operator\"\"sv;\n\n")
string(APPEND out "std::span<sql_file const> embedded_sql() {\n  static constexpr sql_file files[] = {\n")
foreach(path ${files})
  file(READ ${SOURCE_DIR}/${path} text)
  string(REGEX MATCH "([^/]+)/([^/]+)\\.sql" _ ${path})
  string(APPEND out "      {\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_2}\", R\"daybook(${text})daybook\"sv},\n")
endforeach()
string(APPEND out "  };\n  return files;\n}\n\n}  // namespace db\n}  // namespace v1\n}  // namespace daybook\n")
file(WRITE ${OUTPUT} "${out}")
