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
