// A guard's complaints name its settings as programs have them; who writes a file is told the keys.
#pragma once

#include <string>

namespace recourse::app {

// "guard.status_field must ..." becomes "status-field must ...".
std::string in_words_of_file(std::string message);

}  // namespace recourse::app
