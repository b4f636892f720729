// The degrade door of a server: its kinds, who records their failures, and their clean-up.
#pragma once

#include <memory>
#include <vector>

#include "app/config/config.h"
#include "base/clock.h"
#include "base/log.h"
#include "degrade/recorder.h"
#include "engine/core/happening.h"
#include "engine/node.h"
#include "store/opened.h"

namespace recourse::app {

std::vector<task::Kind> degrade_kinds_of(const Config& config);

// Before the node starts; nothing where the configuration has no degrade kinds.
Result<> register_cleaning(const Config& config, engine::Node& node, store::OpenedStore& opened,
                           const Clock& clock, Log& log);

// Empty where there are no degrade kinds. kConflict where another process has the spool.
Result<std::unique_ptr<degrade::Recorder>> open_recorder(const Config& config,
                                                         const degrade::Recorder::Parts& parts);

}  // namespace recourse::app
