// Rows of secrets. No complaint here may hold what was given: somebody who writes a secret into the
// file shall not find it in a log as well.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "app/config/rows.h"
#include "base/text.h"
#include "message/address.h"

namespace recourse::app {
namespace {

constexpr std::string_view kWayOut =
    "must be env:NAME or file:PATH, which name where the secret is kept: put the value into an "
    "environment variable or a file, and write its name here";

struct Resolved {
  Secret secret = {};
  std::string complaint = {};
};

Resolved resolve_given(const Given& value, std::size_t bytes_min, const Outside& outside) {
  if (value.shape != Shape::kText || !is_reference(value.text)) {
    return {.complaint = std::string(kWayOut)};
  }
  Result<Secret> found = resolve(value.text, outside.environment);
  if (!found) {
    return {.complaint =
                fmt::format("names a secret that is not there: {}", found.error().message)};
  }
  if (found->reveal().size() < bytes_min) {
    return {.complaint = fmt::format("must be a secret of at least {} bytes; {} has fewer",
                                     bytes_min, shown(value.text))};
  }
  return {.secret = *std::move(found)};
}

// Tells one reference from another, and a value that was changed behind the same reference.
std::string compared_of(const Secret& secret) {
  return secret.reference() + '\0' + secret.reveal();
}

std::string shown_reference(const Secret& secret) {
  return secret.reference().empty() ? std::string() : quoted_if_needed(secret.reference());
}

// Rather once too often: a password may hold any character that ends a URL's parts.
bool has_password(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) return false;
  const std::string_view rest = url.substr(scheme + 3);
  const std::size_t at_sign = rest.rfind('@');
  const bool before_host = at_sign != std::string_view::npos &&
                           rest.substr(0, at_sign).find(':') != std::string_view::npos;
  return before_host || rest.find("password=") != std::string_view::npos;
}

bool names_a_store(std::string_view url) {
  constexpr std::array<std::string_view, 5> kSchemes{"sqlite:", "postgres://", "postgresql://",
                                                     "mysql://", "mariadb://"};
  return url == "memory:" || std::ranges::any_of(kSchemes, [url](std::string_view scheme) {
           return url.starts_with(scheme) && url.size() > scheme.size();
         });
}

// Empty, or what is wrong, without a word of the URL.
using UrlCheck = std::string (*)(const std::string& url);

std::string check_store_url(const std::string& url) {
  return names_a_store(url) ? std::string()
                            : "must be sqlite:FILE, postgres://USER@HOST/DATABASE, "
                              "mysql://USER@HOST/DATABASE or memory:";
}

std::string check_broker_url(const std::string& url) {
  const auto address = message::parse_address(url);
  return address ? std::string() : "is no broker's URL: " + address.error().message;
}

Resolved resolve_url(const Given& value, const Outside& outside, UrlCheck check) {
  Resolved resolved;
  if (value.shape == Shape::kText && is_reference(value.text)) {
    resolved = resolve_given(value, 1, outside);
    if (!resolved.complaint.empty()) return resolved;
  } else if (has_password(value.text) && value.where.origin != Origin::kEnvironment) {
    return {.complaint =
                "has a password in it; write env:NAME or file:PATH instead, and put the "
                "whole URL there"};
  } else {
    const std::string visible = has_password(value.text) ? to_string(Secret()) : value.text;
    resolved.secret = Secret(visible, value.text);
  }
  std::string complaint = check(resolved.secret.reveal());
  return complaint.empty() ? resolved : Resolved{.complaint = std::move(complaint)};
}

Key url_of(std::string path, const Place<Secret>& place, About about, UrlCheck check) {
  Key key{.path = std::move(path), .type = "a URL, env:NAME or file:PATH", .about = about};
  key.put = [set = place.set, check](const Given& value, const Outside& outside) {
    Resolved resolved = resolve_url(value, outside, check);
    if (resolved.complaint.empty()) set(std::move(resolved.secret));
    return resolved.complaint;
  };
  key.show = [get = place.get] { return shown_reference(get().value_or(Secret())); };
  key.compared = [get = place.get] { return compared_of(get().value_or(Secret())); };
  return key;
}

}  // namespace

Key secret(std::string path, const Place<Secret>& place, std::size_t bytes_min, About about) {
  Key key{.path = std::move(path), .type = "a secret: env:NAME or file:PATH", .about = about};
  key.put = [bytes_min, set = place.set](const Given& value, const Outside& outside) {
    Resolved resolved = resolve_given(value, bytes_min, outside);
    if (resolved.complaint.empty()) set(std::move(resolved.secret));
    return resolved.complaint;
  };
  key.show = [get = place.get] { return shown_reference(get().value_or(Secret())); };
  key.compared = [get = place.get] { return compared_of(get().value_or(Secret())); };
  return key;
}

Key secrets(std::string path, const Place<std::vector<Secret>>& place, std::size_t bytes_min,
            About about) {
  Key key{
      .path = std::move(path), .type = "a list of secrets: env:NAME or file:PATH", .about = about};
  key.put = [bytes_min, set = place.set](const Given& value, const Outside& outside) {
    // One alone needs no brackets.
    const std::vector<Given> items =
        value.shape == Shape::kList ? value.items : std::vector<Given>{value};
    std::vector<Secret> all;
    for (const Given& item : items) {
      Resolved resolved = resolve_given(item, bytes_min, outside);
      if (!resolved.complaint.empty()) return resolved.complaint;
      all.push_back(std::move(resolved.secret));
    }
    set(std::move(all));
    return std::string();
  };
  key.show = [get = place.get]() -> std::string {
    std::vector<std::string> references;
    for (const Secret& one : get().value_or(std::vector<Secret>())) {
      references.push_back(quoted_if_needed(one.reference()));
    }
    return references.empty() ? "" : fmt::format("[{}]", fmt::join(references, ", "));
  };
  key.compared = [get = place.get] {
    std::string all;
    for (const Secret& one : get().value_or(std::vector<Secret>())) all += compared_of(one) + '\0';
    return all;
  };
  return key;
}

Key secret_map(std::string path, const Place<SecretMap>& place, About about) {
  Key key{
      .path = std::move(path), .type = "a map of secrets: env:NAME or file:PATH", .about = about};
  key.put = [set = place.set](const Given& value, const Outside& outside) -> std::string {
    if (value.shape != Shape::kMap) return "must be a map such as {Authorization: env:NAME}";
    SecretMap all;
    for (const Entry& entry : value.entries) {
      Resolved resolved = resolve_given(entry.value, 1, outside);
      if (!resolved.complaint.empty()) {
        return fmt::format("{} {}", shown(entry.key), resolved.complaint);
      }
      all[entry.key] = std::move(resolved.secret);
    }
    set(std::move(all));
    return {};
  };
  key.show = [get = place.get]() -> std::string {
    std::vector<std::string> pairs;
    for (const auto& [name, value] : get().value_or(SecretMap())) {
      pairs.push_back(quoted_if_needed(name) + ": " + quoted_if_needed(value.reference()));
    }
    return pairs.empty() ? "" : fmt::format("{{{}}}", fmt::join(pairs, ", "));
  };
  key.compared = [get = place.get] {
    std::string all;
    for (const auto& [name, value] : get().value_or(SecretMap())) {
      all += name + '\0' + compared_of(value) + '\0';
    }
    return all;
  };
  return key;
}

Key store_url(std::string path, const Place<Secret>& place, About about) {
  return url_of(std::move(path), place, about, check_store_url);
}

Key broker_url(std::string path, const Place<Secret>& place, About about) {
  return url_of(std::move(path), place, about, check_broker_url);
}

}  // namespace recourse::app
