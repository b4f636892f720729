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

// A guarded database and a broker are somebody else's servers: when one is away it is as bad, and
// as much to be done about it, whichever it is. Asked from here, by the keys of a configuration:
inline std::string remedy_by_keys(std::string_view away, std::string_view keys) {
  return "start the " + std::string(away) + ", or correct " + std::string(keys) +
         "; the server itself goes on and tries again";
}
// And as a server that runs sees it; `command` shows it too.
inline std::string remedy_by_waiting(std::string_view away, std::string_view command) {
  return "look at " + std::string(away) + ": the server tries again by itself, and " +
         std::string(command) + " shows when it is well";
}

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
