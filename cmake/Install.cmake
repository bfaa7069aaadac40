# What `cmake --install` puts where, how to take it away again, and the package of it.
#
#   bin             the tools, which look for what they need beside bin
#   lib/braid       the runtime and the compiler's libraries
#   lib/cmake/Braid find_package(Braid): see BraidConfig.cmake.in
#   share/braid     the runtime's sources and headers, which programs are compiled against, and
#                   the scripts that bin has links to, with the modules beside them
#   include/braid   headers of the compiler, as sources include them: "dialects/TG/TG.h"
#   share/doc/braid documents and examples

include(CMakePackageConfigHelpers)

# The tools that braid_tool has declared, and the libraries behind Braid::Compiler, as Braid::TG for BraidTG. Parts of
# tools and of fuzzers are no libraries of users.
get_property(tools GLOBAL PROPERTY BRAID_TOOLS)
set(compiler_libraries BraidDriver BraidReference BraidPasses)
set(libraries)
set(pending ${compiler_libraries})
while(NOT "${pending}" STREQUAL "")
  list(POP_FRONT pending library)
  if(TARGET ${library} AND NOT library IN_LIST libraries)
    list(APPEND libraries ${library})
    get_target_property(links ${library} INTERFACE_LINK_LIBRARIES)
    list(APPEND pending ${links}) # links-NOTFOUND, which is no target, where there are none
  endif()
endwhile()
foreach(library ${libraries})
  string(REGEX REPLACE "^Braid" "" name ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${name})
endforeach()
install(TARGETS ${tools} EXPORT BraidTargets RUNTIME DESTINATION bin)
install(TARGETS ${libraries} EXPORT BraidTargets ARCHIVE DESTINATION lib/braid)
install(EXPORT BraidTargets NAMESPACE Braid:: DESTINATION lib/cmake/Braid)

install(DIRECTORY dialects lib passes compiler DESTINATION include/braid FILES_MATCHING PATTERN *.h PATTERN *.td)
install(DIRECTORY include/braid DESTINATION include/braid FILES_MATCHING PATTERN *.h)
foreach(folder dialects passes)
  install(DIRECTORY ${CMAKE_BINARY_DIR}/${folder} DESTINATION include/braid FILES_MATCHING PATTERN *.inc
    PATTERN CMakeFiles EXCLUDE)
endforeach()
install(FILES README.md LICENSE DESTINATION share/doc/braid)
install(DIRECTORY examples DESTINATION share/doc/braid)
install(DIRECTORY docs DESTINATION share/doc/braid FILES_MATCHING PATTERN *.md PATTERN *.svg PATTERN *.png)
install(PROGRAMS scripts/check scripts/plot scripts/sample scripts/tokenize DESTINATION share/braid/scripts)
install(DIRECTORY scripts/equivalence scripts/tokenization DESTINATION share/braid/scripts FILES_MATCHING PATTERN *.py)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/links)
foreach(script check plot sample tokenize)
  file(CREATE_LINK ../share/braid/scripts/${script} ${CMAKE_BINARY_DIR}/links/braid-${script} SYMBOLIC)
  install(FILES ${CMAKE_BINARY_DIR}/links/braid-${script} DESTINATION bin)
endforeach()

list(TRANSFORM compiler_libraries REPLACE "^Braid" "Braid::")
configure_package_config_file(cmake/BraidConfig.cmake.in ${CMAKE_BINARY_DIR}/BraidConfig.cmake
  INSTALL_DESTINATION lib/cmake/Braid)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/BraidConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/BraidConfig.cmake ${CMAKE_BINARY_DIR}/BraidConfigVersion.cmake
  DESTINATION lib/cmake/Braid)

add_custom_target(uninstall
  COMMAND ${CMAKE_COMMAND} -DMANIFEST=${CMAKE_BINARY_DIR}/install_manifest.txt -P ${CMAKE_SOURCE_DIR}/cmake/Uninstall.cmake
  COMMENT "Removing what was installed last")

# Compiling a graph takes a C++ compiler, and the libraries that programs link.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME braid)
set(CPACK_PACKAGE_CONTACT "The Braid developers <braid@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Ahead-of-time compiler for training neural networks")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "g++, libdnnl-dev, libssl-dev, libgloo-dev, libopenmpi-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "openmpi-bin, cmake, python3")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libmlir-19-dev, llvm-19-dev, python3-venv, python3-jinja2, python3-matplotlib")
# Without these tools cpack makes no package, or one that does not name the libraries it needs.
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/PackageTools.cmake @ONLY CONTENT [[
foreach(tool file dpkg-shlibdeps dpkg-deb)
  find_program(found_${tool} ${tool} NO_CMAKE_SYSTEM_PATH) # in PATH alone
  if(NOT found_${tool})
    message(FATAL_ERROR "${tool} is missing: apt-get install file dpkg-dev")
  endif()
endforeach()
]])
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_BINARY_DIR}/PackageTools.cmake)
include(CPack)
