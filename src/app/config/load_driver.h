// How the tests of this folder load a configuration.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "app/config/load.h"

namespace recourse::app {

inline Loaded load_text(std::string text, Environment environment = {},
                        std::vector<std::string> flags = {}) {
  return parse_config({.file = "recourse.yaml",
                       .text = std::move(text),
                       .environment = std::move(environment),
                       .flags = std::move(flags)});
}

inline std::vector<std::string> texts_of(const Loaded& loaded) {
  std::vector<std::string> texts;
  for (const Problem& problem : loaded.problems) texts.push_back(to_string(problem));
  return texts;
}

inline std::vector<std::string> problems_of(std::string text, Environment environment = {},
                                            std::vector<std::string> flags = {}) {
  return texts_of(load_text(std::move(text), std::move(environment), std::move(flags)));
}

// Of what must be right.
inline Config config_of(std::string text, Environment environment = {},
                        std::vector<std::string> flags = {}) {
  Loaded loaded = load_text(std::move(text), std::move(environment), std::move(flags));
  for (const std::string& problem : texts_of(loaded)) {
    if (!loaded.config) ADD_FAILURE() << problem;
  }
  return loaded.config.value_or(Config{});
}

}  // namespace recourse::app
