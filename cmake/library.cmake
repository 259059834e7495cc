# The library, as a function.
set(daybook_embedded_sql ${PROJECT_BINARY_DIR}/embedded_sql.cpp)
file(GLOB daybook_sql_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/sql/*/*.sql)
add_custom_command(
  OUTPUT ${daybook_embedded_sql}
  COMMAND ${CMAKE_COMMAND} -DSOURCE_DIR=${PROJECT_SOURCE_DIR}/sql -DOUTPUT=${daybook_embedded_sql}
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_sql.cmake
  DEPENDS ${daybook_sql_files} ${PROJECT_SOURCE_DIR}/cmake/embed_sql.cmake
  COMMENT "Embedding sql/")
add_custom_target(daybook_sql DEPENDS ${daybook_embedded_sql})

file(GLOB_RECURSE daybook_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*.cpp)
list(FILTER daybook_sources EXCLUDE REGEX "_test\\.cpp$")
file(GLOB_RECURSE daybook_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/daybook/*.hpp)

# Programs built against one 0.N run with its patches only; from 1.0 on, with every 1.N.
set(daybook_soversion ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  string(APPEND daybook_soversion .${PROJECT_VERSION_MINOR})
endif()

function(daybook_add_library name)
  add_library(${name} ${daybook_sources} ${daybook_embedded_sql})
  add_dependencies(${name} daybook_sql)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_sources(${name} PUBLIC FILE_SET HEADERS
                 BASE_DIRS ${PROJECT_SOURCE_DIR}/include FILES ${daybook_headers})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE
    $<BUILD_INTERFACE:daybook_warnings>
    SQLite::SQLite3 OpenSSL::Crypto Threads::Threads PkgConfig::LIBPQ PkgConfig::LIBMARIADB)
  if(DAYBOOK_BUILD_TESTS)
    # Only a build for tests lets the environment leave a rule out (src/base/mutant.hpp).
    target_compile_definitions(${name} PRIVATE DAYBOOK_MUTANTS)
  endif()
  if(DAYBOOK_UNDEFINED_SANITIZER)
    # The library alone: the tests take twice as long to compile with it, and are not what users run.
    target_compile_options(${name} PRIVATE -fsanitize=undefined -fno-sanitize-recover=all)
    target_link_options(${name} PUBLIC -fsanitize=undefined)
  endif()
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    VERSION ${PROJECT_VERSION} SOVERSION ${daybook_soversion})
  daybook_unity(${name} 16)
endfunction()
