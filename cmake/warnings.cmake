# Warnings are for our own code only: link daybook_warnings privately.
add_library(daybook_warnings INTERFACE)
target_compile_options(daybook_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wold-style-cast -Wcast-align
  -Wnon-virtual-dtor -Woverloaded-virtual -Wunused -Wextra-semi
  -Werror=unused-result
  $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond -Wduplicated-branches -Wlogical-op -Wsuggest-override>)
# Where several sources are compiled as one, a local name may hide what another source keeps to itself.
if(DAYBOOK_UNITY)
  target_compile_options(daybook_warnings INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>)
else()
  target_compile_options(daybook_warnings INTERFACE -Wshadow)
endif()
# At -Og g++ 12 follows values less far than this warning leads one to believe.
target_compile_options(daybook_warnings INTERFACE
  $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Debug>>:-Wno-maybe-uninitialized>)
if(DAYBOOK_WARNINGS_AS_ERRORS)
  target_compile_options(daybook_warnings INTERFACE -Werror)
endif()
