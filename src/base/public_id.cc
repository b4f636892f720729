#include "base/public_id.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/invariant.h"
#include "base/text.h"

namespace recourse {
namespace {

constexpr std::size_t kTypeSizeMin = 2;
constexpr std::size_t kTypeSizeMax = 10;

constexpr bool is_type(std::string_view type) {
  return type.size() >= kTypeSizeMin && type.size() <= kTypeSizeMax &&
         std::ranges::all_of(
             type, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
}

Unexpected refuse_id(std::string_view field, std::string_view text, std::string_view why) {
  return fail(ErrorCode::kInvalid,
              fmt::format("{} must be an id such as tsk_01ARZ3NDEKTSV4RRFFQ69G5FAV, not {}: {}",
                          field, shown(text), why));
}

}  // namespace

Result<> check_id_type(std::string_view field, std::string_view type) {
  if (is_type(type)) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("{} must be {} to {} characters of a-z and 0-9, not {}", field,
                          kTypeSizeMin, kTypeSizeMax, shown(type)));
}

std::string to_string(const PublicId& id) {
  invariant(is_type(id.type), "a public id's type was checked before the id was made");
  return id.type + '_' + to_string(id.id);
}

Result<PublicId> parse_public_id(std::string_view field, std::string_view text) {
  const std::size_t split = text.find('_');
  if (split == std::string_view::npos)
    return refuse_id(field, text, "there is no '_' after the type");
  const std::string_view type = text.substr(0, split);
  if (!is_type(type))
    return refuse_id(field, text, "the type before '_' is not 2 to 10 of a-z and 0-9");
  const Result<Ulid> id = parse_ulid(text.substr(split + 1));
  if (!id) return refuse_id(field, text, "after the type, " + id.error().message);
  return PublicId{std::string(type), *id};
}

Result<Ulid> parse_public_id(std::string_view field, std::string_view text,
                             std::string_view expected_type) {
  const Result<PublicId> parsed = parse_public_id(field, text);
  if (!parsed) return fail(parsed.error());
  if (parsed->type == expected_type) return parsed->id;
  return refuse_id(field, text,
                   fmt::format("its type is {}, and {} belongs here", parsed->type, expected_type));
}

}  // namespace recourse
