// What a doctor finds: one thing that was looked at.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace recourse::app {

enum class Health : std::uint8_t { kFine, kDoubtful, kBroken };

constexpr std::string_view to_string(Health health) {
  switch (health) {
    case Health::kFine: return "ok";
    case Health::kDoubtful: return "look";
    case Health::kBroken: return "BROKEN";
  }
  std::abort();
}

struct Finding {
  Health health = Health::kFine;
  // What was looked at: "store", "kind grant-points".
  std::string about = {};
  std::string what = {};
  // Never empty unless all is fine.
  std::string remedy = {};
};

class Findings {
 public:
  void fine(std::string about, std::string what) {
    list_.push_back({Health::kFine, std::move(about), std::move(what)});
  }
  void doubtful(std::string about, std::string what, std::string remedy) {
    list_.push_back({Health::kDoubtful, std::move(about), std::move(what), std::move(remedy)});
  }
  void broken(std::string about, std::string what, std::string remedy) {
    list_.push_back({Health::kBroken, std::move(about), std::move(what), std::move(remedy)});
  }

  [[nodiscard]] const std::vector<Finding>& list() const { return list_; }

 private:
  std::vector<Finding> list_;
};

}  // namespace recourse::app
