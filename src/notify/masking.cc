#include "notify/masking.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "base/text.h"
#include "notify/secret_scan.h"

namespace recourse::notify {
namespace {

constexpr std::size_t kPatternsMax = 50;
constexpr std::size_t kPatternBytesMax = 500;
// Of one pattern, compiled and at work.
constexpr std::int64_t kPatternMemory = std::int64_t{1} << 20;

Result<std::unique_ptr<const RE2>> compile(const std::string& pattern) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid,
                fmt::format("masking.patterns: {} cannot be used: {}", shown(pattern), why));
  };
  if (pattern.empty()) return refuse("it is empty");
  if (pattern.size() > kPatternBytesMax) {
    return refuse(fmt::format("it is longer than {} bytes", kPatternBytesMax));
  }
  RE2::Options options(RE2::Quiet);
  options.set_case_sensitive(false);
  options.set_max_mem(kPatternMemory);
  auto compiled = std::make_unique<const RE2>(pattern, options);
  if (!compiled->ok()) return refuse(compiled->error());
  if (RE2::PartialMatch("", *compiled)) return refuse("it matches where nothing is");
  return compiled;
}

// Overlapping finds become one.
std::string without(std::string_view text, std::vector<Span> found) {
  std::ranges::sort(found, {}, &Span::begin);
  std::string masked;
  std::size_t done = 0;
  for (auto span = found.begin(); span != found.end();) {
    masked += text.substr(done, span->begin - done);
    masked += kMasked;
    for (done = span->end; ++span != found.end() && span->begin < done;) {
      done = std::max(done, span->end);
    }
  }
  masked += text.substr(done);
  return masked;
}

}  // namespace

struct Masker::Patterns {
  std::vector<std::unique_ptr<const RE2>> all;

  void find(std::string_view text, std::vector<Span>& found) const {
    if (all.empty()) return;
    for (std::size_t begin = 0; begin < text.size();) {
      const std::size_t end = std::min(text.find('\n', begin), text.size());
      for (const auto& pattern : all) find_in_line(text, {begin, end}, *pattern, found);
      begin = end + 1;
    }
  }

 private:
  static void find_in_line(std::string_view text, Span line, const RE2& pattern,
                           std::vector<Span>& found) {
    const re2::StringPiece piece(text.data() + line.begin, line.end - line.begin);
    std::array<re2::StringPiece, 2> parts;
    const int wanted = pattern.NumberOfCapturingGroups() > 0 ? 2 : 1;
    for (std::size_t from = 0; from < piece.size();) {
      if (!pattern.Match(piece, from, piece.size(), RE2::UNANCHORED, parts.data(), wanted)) return;
      const re2::StringPiece& whole = parts[0];
      const bool has_group = wanted == 2 && parts[1].data() != nullptr;
      const re2::StringPiece& hidden = has_group ? parts[1] : whole;
      const auto at = static_cast<std::size_t>(hidden.data() - text.data());
      if (!hidden.empty()) found.push_back({at, at + hidden.size()});
      // One that matches nothing, as at a line's end, must not be found for ever.
      from = static_cast<std::size_t>(whole.data() - piece.data()) +
             std::max<std::size_t>(1, whole.size());
    }
  }
};

Result<> validate(const MaskingSettings& settings) {
  if (settings.patterns.size() > kPatternsMax) {
    return fail(ErrorCode::kInvalid, fmt::format("masking.patterns must be at most {}, not {}",
                                                 kPatternsMax, settings.patterns.size()));
  }
  for (const std::string& pattern : settings.patterns) {
    if (const auto compiled = compile(pattern); !compiled) return fail(compiled.error());
  }
  return {};
}

Result<Masker> Masker::make(const MaskingSettings& settings) {
  if (const Result<> valid = validate(settings); !valid) return fail(valid.error());
  Masker masker;
  masker.masks_ = settings.masks;
  auto patterns = std::make_shared<Patterns>();
  for (const std::string& pattern : settings.patterns) {
    auto compiled = compile(pattern);
    if (!compiled) return fail(std::move(compiled).error());
    patterns->all.push_back(*std::move(compiled));
  }
  masker.patterns_ = std::move(patterns);
  return masker;
}

bool Masker::has(Mask mask) const { return std::ranges::find(masks_, mask) != masks_.end(); }

std::string Masker::masked_but(std::optional<Mask> spared, std::string_view text) const {
  text = text.substr(0, kMaskedBytesMax);
  const auto looks_for = [&](Mask mask) { return mask != spared && has(mask); };
  std::vector<Span> found;
  if (looks_for(Mask::kUrlPassword)) find_url_passwords(text, found);
  if (looks_for(Mask::kAuthorization)) find_authorizations(text, found);
  if (looks_for(Mask::kSecretValue)) find_secret_values(text, found);
  if (looks_for(Mask::kCardNumber)) find_card_numbers(text, found);
  if (looks_for(Mask::kEmail)) find_email_names(text, found);
  patterns_->find(text, found);
  return without(text, std::move(found));
}

std::string Masker::masked(std::string_view text) const { return masked_but(std::nullopt, text); }

std::string Masker::masked_value(std::string_view name, std::string_view value) const {
  if (has(Mask::kSecretValue) && names_a_secret(name)) return std::string(kMasked);
  return masked(value);
}

std::string Masker::masked_id(std::string_view name, std::string_view value) const {
  if (names_a_card(name)) return masked_value(name, value);
  if (has(Mask::kSecretValue) && names_a_secret(name)) return std::string(kMasked);
  return masked_but(Mask::kCardNumber, value);
}

}  // namespace recourse::notify
