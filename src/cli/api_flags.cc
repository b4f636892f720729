#include "cli/api_flags.h"

namespace recourse::cli {

void add_api_flags(CLI::App& command, ApiFlags& flags, TimeoutName name) {
  const char* group = "Server and output";
  command
      .add_option("--server", flags.server,
                  "Where it is (default: $RECOURSE_SERVER, or http://127.0.0.1:7070)")
      ->type_name("URL")
      ->group(group);
  command
      .add_option("--token-file", flags.token_file,
                  "A file that holds the token (default: $RECOURSE_TOKEN)")
      ->type_name("FILE")
      ->group(group);
  command
      .add_option(name == TimeoutName::kShort ? "--timeout,--request-timeout" : "--request-timeout",
                  flags.timeout, "How long to wait for an answer (default: 15s)")
      ->type_name("DURATION")
      ->group(group);
  command.add_flag("--json", flags.json, "Print what the server answers, as JSON")->group(group);
  command.add_flag("-q,--quiet", flags.quiet, "Print ids only, or nothing")->group(group);
  command.add_flag("--no-color", flags.no_color, "Never in colour (NO_COLOR does the same)")
      ->group(group);
}

}  // namespace recourse::cli
