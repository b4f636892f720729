#include "sql/postgres/url.h"

#include <cstddef>
#include <string_view>

#include "sql/postgres/handles.h"

namespace recourse::sql::postgres {
namespace {

constexpr std::string_view kForm =
    "write postgres://user:password@host:port/database, with special characters of the password "
    "percent-encoded (@ is %40, / is %2F)";

std::string complaint(std::string_view what) {
  return std::string("the PostgreSQL URL ").append(what).append("; ").append(kForm);
}

// True where a password with an unescaped @ or / would be taken apart, and its pieces be shown as
// host or database name in the next error. libpq lets user and password end at the first @ that
// comes before any /.
bool has_stray_at(std::string_view after_scheme) {
  const std::size_t at = after_scheme.find('@');
  const bool has_user = at < after_scheme.find('/');
  const std::string_view rest = has_user ? after_scheme.substr(at + 1) : after_scheme;
  return rest.substr(0, rest.find('?')).find('@') != std::string_view::npos;
}

// The same for `user:password` without a host after it.
bool has_numeric_ports(const PQconninfoOption* options) {
  for (; options->keyword != nullptr; ++options) {
    if (std::string_view(options->keyword) != "port" || options->val == nullptr) continue;
    const std::string_view port = options->val;
    if (port.find_first_not_of("0123456789,") != std::string_view::npos) return false;
  }
  return true;
}

}  // namespace

Result<> check_url(const std::string& url) {
  const std::string_view view = url;
  const bool ours = view.starts_with("postgres://") || view.starts_with("postgresql://");
  if (!ours) return fail(ErrorCode::kInvalid, complaint("does not begin with postgres://"));
  if (has_stray_at(view.substr(view.find("://") + 3))) {
    return fail(ErrorCode::kInvalid, complaint("has an @ too many"));
  }
  const OptionsHandle options(PQconninfoParse(url.c_str(), nullptr));
  if (!options) return fail(ErrorCode::kInvalid, complaint("cannot be read"));
  if (!has_numeric_ports(options.get())) {
    return fail(ErrorCode::kInvalid, complaint("has a port that is not a number"));
  }
  return {};
}

}  // namespace recourse::sql::postgres
