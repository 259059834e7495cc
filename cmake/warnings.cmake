# Warnings are for our own code only: link daybook_warnings privately.
add_library(daybook_warnings INTERFACE)
target_compile_options(daybook_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wunused -Wextra-semi
  -Werror=unused-result
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wsuggest-override>)
if(DAYBOOK_WARNINGS_AS_ERRORS)
  target_compile_options(daybook_warnings INTERFACE -Werror)
endif()
