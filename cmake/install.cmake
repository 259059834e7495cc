# `cmake --install`, and what find_package(daybook) reads afterwards.
install(TARGETS daybook EXPORT daybook_targets FILE_SET HEADERS)
install(EXPORT daybook_targets NAMESPACE daybook:: FILE daybook-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/daybook)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/daybook-config.cmake.in
  ${PROJECT_BINARY_DIR}/daybook-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/daybook)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/daybook-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/daybook-config.cmake
              ${PROJECT_BINARY_DIR}/daybook-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/daybook)
if(TARGET daybook_command)
  install(TARGETS daybook_command)
endif()
