#include "sql/postgres/statements.h"

#include <algorithm>
#include <utility>

#include "sql/postgres/placeholders.h"
#include "sql/postgres/wire_format.h"

namespace recourse::sql::postgres {
namespace {

bool fits(const Prepared& prepared, std::span<const Oid> types) {
  return std::ranges::equal(types, prepared.types, [](Oid wanted, Oid has) {
    return wanted == kUnknownType || wanted == has;
  });
}

// What was NULL the last time and is NULL now keeps both from being prepared once for each mixture
// of NULLs: the types that are known by now are taken together.
std::vector<Oid> with_known_types(std::span<const Oid> types, const Prepared* latest) {
  std::vector<Oid> known(types.begin(), types.end());
  if (latest == nullptr || latest->types.size() != known.size()) return known;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (known[i] == kUnknownType) known[i] = latest->types[i];
  }
  return known;
}

}  // namespace

Prepared* Statements::find_or_add(std::string_view text, std::span<const Oid> types) {
  auto entry = by_text_.find(text);
  if (entry != by_text_.end()) {
    for (const auto& variant : entry->second) {
      if (fits(*variant, types)) return variant.get();
    }
  }
  if (count_ == kCountMax) return nullptr;
  if (entry == by_text_.end()) entry = by_text_.emplace(text, Variants()).first;
  Variants& variants = entry->second;
  const Prepared* latest = variants.empty() ? nullptr : variants.back().get();
  variants.push_back(std::make_unique<Prepared>(Prepared{
      .name = "s" + std::to_string(++count_),
      .numbered_text = with_numbered_placeholders(text),
      .types = with_known_types(types, latest),
  }));
  return variants.back().get();
}

}  // namespace recourse::sql::postgres
