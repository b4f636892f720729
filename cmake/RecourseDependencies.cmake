# What librecourse.a is linked with. Installed, and read by our own build too, so that neither can
# miss one.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_dependency(Boost 1.81 COMPONENTS json url)
find_dependency(PostgreSQL)
find_dependency(SQLite3)
find_dependency(OpenSSL)
find_dependency(PkgConfig)
pkg_check_modules(libmariadb REQUIRED QUIET IMPORTED_TARGET libmariadb)
pkg_check_modules(re2 REQUIRED QUIET IMPORTED_TARGET re2)
# Of the brokers those that the library was built with; one that is missing is told by its target's name.
pkg_check_modules(rabbitmq QUIET IMPORTED_TARGET librabbitmq)
pkg_check_modules(kafka QUIET IMPORTED_TARGET rdkafka)
pkg_check_modules(redis QUIET IMPORTED_TARGET hiredis)
