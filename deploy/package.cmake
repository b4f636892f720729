# Debian packages, one for each component: the server, and the library for who builds with it.
set(CPACK_PACKAGE_VENDOR "The Recourse maintainers")
set(CPACK_PACKAGE_CONTACT "The Recourse maintainers <maintainers@recourse.example>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL program development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME ${package_of_program})
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SHLIBDEPS ON)
# It calls services over TLS.
set(CPACK_DEBIAN_PROGRAM_PACKAGE_RECOMMENDS ca-certificates)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/conffiles
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/postinst
  ${CMAKE_CURRENT_SOURCE_DIR}/debian/prerm)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "The server and its command line. Tasks are kept in SQLite, PostgreSQL or MariaDB, and are run,
retried and taken over until they are done, or in front of a person.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME ${package_of_development})
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What cmake/RecourseDependencies.cmake looks for.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libboost-json1.81-dev, libboost-url1.81-dev, libfmt-dev, libhiredis-dev, libmariadb-dev, libpq-dev, librabbitmq-dev, librdkafka-dev, libre2-dev, libsqlite3-dev, libssl-dev, pkg-config")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS nlohmann-json3-dev)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The engine as a C++20 library: headers, the archive, and what CMake and pkg-config look for.")
include(CPack)
