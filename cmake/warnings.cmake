# Warnings are for our own code only: link daybook_warnings privately.
add_library(daybook_warnings INTERFACE)
target_compile_options(daybook_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wunused -Wextra-semi
  -Werror=unused-result
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wsuggest-override>)
# A parameter may be called as a type or a member is (`key`, `task`): both are nouns of the field. And
# where several sources are compiled as one, a local name may hide what another keeps to itself.
target_compile_options(daybook_warnings INTERFACE
  $<IF:$<CXX_COMPILER_ID:GNU>,-Wshadow=local,-Wshadow>)
# At -Og g++ 12 follows values less far than this warning leads one to believe.
target_compile_options(daybook_warnings INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-Wno-maybe-uninitialized>)
if(DAYBOOK_WARNINGS_AS_ERRORS)
  target_compile_options(daybook_warnings INTERFACE -Werror)
endif()
