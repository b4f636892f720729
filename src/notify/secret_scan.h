// Finds what looks like a secret. Each scanner goes once over the text and says where; what was
// found by all of them is replaced together.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace recourse::notify {

// Bytes [begin, end) of a text.
struct Span {
  std::size_t begin;
  std::size_t end;
};

void find_url_passwords(std::string_view text, std::vector<Span>& found);
void find_authorizations(std::string_view text, std::vector<Span>& found);
void find_secret_values(std::string_view text, std::vector<Span>& found);
void find_card_numbers(std::string_view text, std::vector<Span>& found);
void find_email_names(std::string_view text, std::vector<Span>& found);

// `password`, `client_secret`, `X-Api-Key`...
bool names_a_secret(std::string_view name);
// `card`, `cardNumber`...
bool names_a_card(std::string_view name);

}  // namespace recourse::notify
