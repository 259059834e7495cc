# The manual pages and the completion, made by the command that they are about.
set(daybook_manual ${PROJECT_BINARY_DIR}/manual)
file(GLOB daybook_manual_tools CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/packaging/manual/*)
file(GLOB daybook_manual_pages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/reference/*.md)
add_custom_command(
  OUTPUT ${daybook_manual}/daybook.1 ${daybook_manual}/daybook.toml.5
         ${daybook_manual}/daybook-daemon.8 ${daybook_manual}/daybook.bash
  COMMAND ${PROJECT_SOURCE_DIR}/packaging/manual/write $<TARGET_FILE:daybook_command> ${daybook_manual}
  DEPENDS daybook_command ${daybook_manual_tools}
          ${daybook_manual_pages}
  COMMENT "Writing the manual")
add_custom_target(daybook_manual ALL DEPENDS ${daybook_manual}/daybook.1)

install(FILES ${daybook_manual}/daybook.1
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)
install(FILES ${daybook_manual}/daybook.toml.5
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 COMPONENT command)
install(FILES ${daybook_manual}/daybook-daemon.8
        DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT command)
install(FILES ${daybook_manual}/daybook.bash RENAME daybook
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT command)
