// YAML to a tree, through yaml-cpp's events rather than its nodes: so that places, duplicate keys
// and bounds are ours.
//
// Bounds: bytes of the file, depth, and what the tree may grow to. Aliases are copied within these,
// so that a small file cannot become a large tree.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "app/config/given.h"
#include "app/config/where.h"

namespace recourse::app {

inline constexpr std::size_t kFileBytesMax = std::size_t{1024} * 1024;
inline constexpr std::size_t kYamlDepthMax = 32;
inline constexpr std::size_t kYamlNodesMax = 200'000;
inline constexpr std::size_t kYamlTextBytesMax = std::size_t{4} * 1024 * 1024;

// A map; an empty one for an empty file and for one that cannot be read. `file` is for the places.
Given read_yaml(std::string_view text, const std::string& file, Problems& problems);

}  // namespace recourse::app
