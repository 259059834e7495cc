# Debian packages, of the parts that install.cmake names: `cpack -G DEB` in a build by the preset
# `package`, which has a shared library and the prefix /usr.
set(daybook_section_library libs)
set(daybook_section_development libdevel)
set(daybook_section_command database)
set(daybook_package_library libdaybook${daybook_soversion})
set(daybook_package_development libdaybook-dev)
set(daybook_package_command daybook)
set(daybook_this_library "${daybook_package_library} (= ${PROJECT_VERSION})")

set(CPACK_GENERATOR DEB)
set(CPACK_COMPONENTS_ALL library development command)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGE_NAME daybook)
set(CPACK_PACKAGE_CONTACT "Daybook maintainers <maintainers@daybook.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Found by dpkg-shlibdeps; that of the command on our own library is said below.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${PROJECT_BINARY_DIR})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY "=")

# The first line of each is PROJECT_DESCRIPTION.
set(daybook_about "Daybook cuts a job into steps and writes down each step that was done, in\n\
the same transaction as what the step did: on SQLite, PostgreSQL or MariaDB.\n\
Killed anywhere, it goes on where it stood.\n\n")
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${daybook_about}What programs need to run.")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION
    "${daybook_about}What programs need to be built: headers, and files for CMake and pkg-config.")
set(CPACK_COMPONENT_COMMAND_DESCRIPTION
    "${daybook_about}The command and the daemon, with their manual and examples.")

foreach(part library development command)
  string(TOUPPER ${part} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${daybook_package_${part}})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${daybook_section_${part}})
  set(CPACK_DEBIAN_${upper}_PACKAGE_PRIORITY optional)
  install(FILES packaging/copyright packaging/changelog
          DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${daybook_package_${part}} COMPONENT ${part})
endforeach()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${daybook_this_library}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_DEPENDS "${daybook_this_library}")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "systemd, bash-completion")
set(CPACK_DEBIAN_COMMAND_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/postinst)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS tzdata)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/triggers)
# Debian wants the manual and the changelog compressed; other installations have them as they are.
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/compress.cmake)
include(CPack)
