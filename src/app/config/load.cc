#include "app/config/load.h"

#include <fmt/format.h>

#include <fstream>
#include <utility>

#include "app/config/fill.h"
#include "app/config/finish.h"
#include "app/config/keys.h"
#include "app/config/overlay.h"
#include "app/config/read_yaml.h"

namespace recourse::app {
Loaded parse_config(const ConfigSources& sources) {
  Problems problems;
  Given root = read_yaml(sources.text, sources.file, problems);
  Config config = default_config();
  {
    const Keys keys = keys_of(config);
    name_items(keys, root, problems);
    lay_environment(sources.environment, root);
    lay_flags(sources.flags, root, problems);
    warn_of_unread(sources.environment, keys, root, problems);
    fill(keys, root, {.environment = sources.environment}, problems, config.origins);
  }
  const Where start{.origin = sources.file.empty() ? Origin::kDefault : Origin::kFile,
                    .name = sources.file};
  finish(config, start, problems);
  Loaded loaded;
  if (!problems.has_errors()) loaded.config = std::move(config);
  loaded.problems = std::move(problems).take();
  return loaded;
}

Loaded load_config(const std::string& path, Environment environment,
                   std::vector<std::string> flags) {
  ConfigSources sources{
      .file = path, .environment = std::move(environment), .flags = std::move(flags)};
  if (path.empty()) return parse_config(sources);
  std::ifstream file(path, std::ios::binary);
  // One more than is allowed, for the reader to see and refuse.
  sources.text.resize(kFileBytesMax + 1);
  file.read(sources.text.data(), static_cast<std::streamsize>(sources.text.size()));
  const bool readable = file.is_open() && !file.bad() && (file.gcount() > 0 || file.eof());
  if (!readable) {
    return {
        .problems = {
            {Severity::kError, {.origin = Origin::kFile, .name = path}, "cannot read this file"}}};
  }
  sources.text.resize(static_cast<std::size_t>(file.gcount()));
  return parse_config(sources);
}

}  // namespace recourse::app
