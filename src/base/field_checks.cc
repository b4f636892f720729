#include "base/field_checks.h"

namespace recourse {

FieldChecks& FieldChecks::add(std::string_view field, std::string_view complaint) {
  if (!complaints_.empty()) complaints_ += "; ";
  complaints_ += fmt::format("{}.{} {}", subject_, field, complaint);
  return *this;
}

Result<> FieldChecks::result() const {
  if (complaints_.empty()) return {};
  return fail(ErrorCode::kInvalid, complaints_);
}

}  // namespace recourse
