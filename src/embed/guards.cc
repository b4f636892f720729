// The guard door of an engine: how guards get to their tables and to the engine.
#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "embed/convert.h"
#include "embed/engine_impl.h"
#include "embed/guard_impl.h"
#include "embed/guard_notice.h"
#include "embed/open_guarded.h"

namespace recourse {
namespace {

guard::GuardSettings settings_of(const GuardOptions& options, std::string route) {
  return {.name = options.name.empty() ? options.table : options.name,
          .table = options.table,
          .id_field = options.id_field,
          .user_field = options.user_field,
          .status_field = options.status_field,
          .success_value = options.success_value,
          .fail_value = options.fail_value,
          .service_name = options.service_name,
          .manual_success_route = std::move(route),
          .min_interval = options.min_interval,
          .timeout_window = options.timeout_window,
          .max_retries = options.max_retries,
          .remind_every = options.remind_every,
          .scan_every = options.scan_every,
          .attempt_timeout = options.attempt_timeout,
          .time_zone = options.time_zone};
}

guard::RowHandlers handlers_of(const std::shared_ptr<Guard>& guard) {
  return {
      .check_status = [guard](const guard::RowCall& call) { return guard->check_status(call.id); },
      .handle_exception =
          [guard](const guard::RowCall& call) { return guard->handle_exception(call.id); },
      .manual_success = [guard](const RowId& id) -> Result<std::int64_t> {
        const Result<> done = guard->manual_success(id);
        if (done) return std::int64_t{1};
        if (done.error().code == ErrorCode::kNotFound) return std::int64_t{0};
        return fail(done.error());
      }};
}

}  // namespace

Result<Guards> Guards::on(Engine& engine) {
  Engine::Impl& impl = *engine.impl_;
  if (impl.started) {
    return fail(ErrorCode::kInvalid, "the guard door is opened before the engine starts");
  }
  if (impl.guards) return fail(ErrorCode::kInvalid, "this engine has a guard door already");
  // Who tells people may be given after this.
  guard::Tell tell = [&impl](const guard::Reminder& reminder, guard::Told told) {
    if (impl.telling == nullptr) return guard::tell_log(impl.log, reminder, told);
    embed::tell(impl.telling->notifier(), impl.name, reminder, std::move(told));
  };
  impl.guards = std::make_unique<guard::Door>(guard::GuardParts{.node = *impl.node,
                                                                .opened = *impl.store.opened,
                                                                .ids = impl.ids,
                                                                .clock = impl.clock,
                                                                .log = impl.log,
                                                                .tell = std::move(tell)});
  return Guards(impl);
}

void Guards::take(const std::shared_ptr<Guard>& guard) {
  Engine::Impl& engine = *engine_;
  if (!guard) {
    engine.note(fail(ErrorCode::kInvalid, "guards: one of them is null"));
    return;
  }
  if (!engine.may_register(guard->options().table)) return;
  engine.guarded.push_back(guard);
  // At start(): only then is the table looked at.
  engine.registrations.emplace_back(
      [&engine, guard,
       settings = settings_of(guard->options(), guard->manual_success_route())]() -> Result<> {
        auto table =
            embed::open_guarded({.database = guard->options().database, .settings = settings},
                                {.databases = engine.databases,
                                 .own = {.url = engine.store_url, .opened = *engine.store.opened},
                                 .clock = engine.clock,
                                 .log = engine.log});
        if (!table) return fail(table.error());
        Result<> added = engine.guards->add(
            {.table = *std::move(table),
             .handlers = handlers_of(guard),
             .place = embed::place_of_guarded(guard->options().database, engine.store_url),
             .kind = embed::kind_settings(guard->options().kind)});
        if (!added) return added;
        guard->impl_->started.store(engine.guards->find(settings.name), std::memory_order_release);
        return {};
      });
}

std::map<std::string, std::shared_ptr<Guard>> Guards::routes() const {
  std::map<std::string, std::shared_ptr<Guard>> routes;
  for (const auto& guard : engine_->guarded) {
    std::string route = guard->manual_success_route();
    if (!route.empty()) routes.emplace(std::move(route), guard);
  }
  return routes;
}

}  // namespace recourse
