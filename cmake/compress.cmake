# Run by CPack on what it has put together, before it makes packages of it. Without names and times
# in them (-n): the same sources make the same packages.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/*${CPACK_PACKAGING_INSTALL_PREFIX}/share)
file(GLOB pages ${share}/man/*/*.[1-8] ${share}/doc/*/changelog)
foreach(page ${pages})
  execute_process(COMMAND gzip -9n ${page} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
