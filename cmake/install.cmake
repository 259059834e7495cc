# `cmake --install`, in three parts: library (what programs need to run), development (to be built),
# command. What find_package(daybook) and pkg-config read afterwards finds its folders from where
# it lies, so that the whole may be moved.
#
# What is installed is stripped, however it was built; an archive keeps the names to link with. cpack
# strips by itself (packages.cmake).
if(NOT DAYBOOK_PACKAGE)
  install(CODE "set(CMAKE_INSTALL_DO_STRIP TRUE)" ALL_COMPONENTS)
endif()
set(daybook_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/daybook)
set(daybook_pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(TARGETS daybook EXPORT daybook_targets
  LIBRARY COMPONENT library NAMELINK_COMPONENT development
  ARCHIVE COMPONENT development
  FILE_SET HEADERS COMPONENT development)
install(EXPORT daybook_targets NAMESPACE daybook:: FILE daybook-targets.cmake
        DESTINATION ${daybook_cmake_dir} COMPONENT development)

# A static daybook leaves the database libraries to the user's link; a shared one brings them along.
get_target_property(daybook_type daybook TYPE)
if(daybook_type STREQUAL "STATIC_LIBRARY")
  # CMake strips programs and shared libraries only.
  install(CODE "execute_process(COMMAND \"${CMAKE_STRIP}\" --strip-debug
    \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/$<TARGET_FILE_NAME:daybook>\"
    COMMAND_ERROR_IS_FATAL ANY)" COMPONENT development)
  set(daybook_static TRUE)
  set(daybook_pc_requires "Requires: sqlite3 >= 3.37, libpq, libmariadb, libcrypto")
else()
  set(daybook_static FALSE)
  set(daybook_pc_requires "")
endif()
file(RELATIVE_PATH daybook_pc_prefix /${daybook_pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" daybook_pc_prefix "${daybook_pc_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/packaging/daybook.pc.in ${PROJECT_BINARY_DIR}/daybook.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/daybook.pc
        DESTINATION ${daybook_pkgconfig_dir} COMPONENT development)

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/daybook-config.cmake.in
  ${PROJECT_BINARY_DIR}/daybook-config.cmake
  INSTALL_DESTINATION ${daybook_cmake_dir} PATH_VARS CMAKE_INSTALL_BINDIR
  NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/daybook-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/daybook-config.cmake
              ${PROJECT_BINARY_DIR}/daybook-config-version.cmake
        DESTINATION ${daybook_cmake_dir} COMPONENT development)

if(TARGET daybook_command)
  # Beside a shared library the command finds it, unless the system's linker does so by itself.
  if(NOT daybook_static AND NOT CMAKE_INSTALL_PREFIX MATCHES "^/usr(/local)?$")
    file(RELATIVE_PATH daybook_from_command /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
    set_target_properties(daybook_command PROPERTIES INSTALL_RPATH $ORIGIN/${daybook_from_command})
  endif()
  install(TARGETS daybook_command RUNTIME COMPONENT command)
  include(${CMAKE_CURRENT_LIST_DIR}/manual.cmake)
  # It names the command where that is installed; a package is installed from another folder than
  # it is made in.
  if(DAYBOOK_PACKAGE)
    configure_file(${PROJECT_SOURCE_DIR}/packaging/daybook.service.in
                   ${PROJECT_BINARY_DIR}/daybook.service @ONLY)
  else()
    install(CODE "
      set(CMAKE_INSTALL_FULL_BINDIR \"${CMAKE_INSTALL_BINDIR}\")
      cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_FULL_BINDIR
                 BASE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}\")
      configure_file(\"${PROJECT_SOURCE_DIR}/packaging/daybook.service.in\"
                     \"${PROJECT_BINARY_DIR}/daybook.service\" @ONLY)" COMPONENT command)
  endif()
  install(FILES ${PROJECT_BINARY_DIR}/daybook.service
          DESTINATION lib/systemd/system COMPONENT command)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/daybook.sysusers RENAME daybook.conf
          DESTINATION lib/sysusers.d COMPONENT command)
  # The documents with what they link to.
  install(FILES README.md CHANGELOG.md UPGRADING.md
          DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command)
  install(FILES share/prometheus/daybook.rules.yml
          DESTINATION ${CMAKE_INSTALL_DOCDIR}/share/prometheus COMPONENT command)
  install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT command
          USE_SOURCE_PERMISSIONS
          REGEX "/docs/(check|run)$" EXCLUDE REGEX "/examples/CMakeLists.txt$" EXCLUDE)
endif()
