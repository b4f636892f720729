#include "base/time_zone.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <vector>

#include "base/text.h"
#include "base/zone_rule.h"

namespace recourse {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::size_t kHeaderBytes = 44;
constexpr std::size_t kFileBytesMax = std::size_t{256} * 1024;

// Big-endian, two's complement.
std::int64_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < size; ++i) {
    value = value << 8 | static_cast<std::uint8_t>(bytes[at + i]);
  }
  if (size == 4) return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
  return static_cast<std::int64_t>(value);
}

struct Counts {
  std::size_t utc, standard, leaps, times, types, letters;

  explicit Counts(std::string_view header)
      : utc(at(header, 20)),
        standard(at(header, 24)),
        leaps(at(header, 28)),
        times(at(header, 32)),
        types(at(header, 36)),
        letters(at(header, 40)) {}

  // What follows the header, with moments of `size` bytes.
  [[nodiscard]] std::size_t bytes(std::size_t size) const {
    return times * (size + 1) + types * 6 + letters + leaps * (size + 4) + standard + utc;
  }

 private:
  static std::size_t at(std::string_view header, std::size_t place) {
    return static_cast<std::size_t>(static_cast<std::uint32_t>(number_at(header, place, 4)));
  }
};

bool is_zone_name(std::string_view name) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-' || c == '+' || c == '/';
  };
  return !name.empty() && name.size() <= 64 && name.front() != '/' && name.back() != '/' &&
         std::ranges::all_of(name, allowed);
}

// +08:00
std::optional<seconds> offset_in(std::string_view name) {
  const auto digit = [&](std::size_t at) { return name[at] >= '0' && name[at] <= '9'; };
  if (name.size() != 6 || (name[0] != '+' && name[0] != '-') || name[3] != ':') return std::nullopt;
  if (!digit(1) || !digit(2) || !digit(4) || !digit(5)) return std::nullopt;
  const std::chrono::hours hours((name[1] - '0') * 10 + (name[2] - '0'));
  const std::chrono::minutes minutes((name[4] - '0') * 10 + (name[5] - '0'));
  if (hours > std::chrono::hours(14) || minutes > std::chrono::minutes(59)) return std::nullopt;
  return name[0] == '-' ? -(hours + minutes) : hours + minutes;
}

std::optional<std::string> read_whole(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rbe"),
                                                             &std::fclose);
  if (file == nullptr) return std::nullopt;
  std::string bytes(kFileBytesMax, '\0');
  bytes.resize(std::fread(bytes.data(), 1, bytes.size(), file.get()));
  return bytes;
}

}  // namespace

struct TimeZone::Data {
  struct Change {
    sys_seconds at;
    seconds offset;
  };
  seconds first{};  // before all changes
  std::vector<Change> changes;
  std::optional<ZoneRule> rule;  // after all of them

  // Of the 64-bit block, whose sizes were checked.
  bool read_block(std::string_view block, const Counts& counts) {
    const std::size_t indexes = counts.times * 8;
    const std::size_t types = indexes + counts.times;
    const auto offset_of = [&](std::size_t type) {
      return seconds(number_at(block, types + type * 6, 4));
    };
    first = offset_of(0);
    for (std::size_t i = 0; i < counts.times; ++i) {
      const auto type = static_cast<std::uint8_t>(block[indexes + i]);
      if (type >= counts.types) return false;
      changes.push_back({sys_seconds(seconds(number_at(block, i * 8, 8))), offset_of(type)});
      if (i > 0 && changes[i].at <= changes[i - 1].at) return false;
    }
    return true;
  }
};

TimeZone::TimeZone() : data_(std::make_shared<const Data>()) {}

TimeZone::TimeZone(std::shared_ptr<const Data> data) : data_(std::move(data)) {}

Result<TimeZone> TimeZone::parse(std::string_view file) {
  const auto refuse = [](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("it is not a time zone file: {}", why));
  };
  if (file.size() < kHeaderBytes || !file.starts_with("TZif")) return refuse("TZif is missing");
  if (file[4] < '2') return refuse("version 1 ends in 2038; a newer one is needed");
  // The first block is for readers of version 1.
  const Counts old(file.substr(0, kHeaderBytes));
  const std::size_t begin = kHeaderBytes + old.bytes(4);
  if (file.size() < begin + kHeaderBytes) return refuse("it is cut short");
  const Counts counts(file.substr(begin, kHeaderBytes));
  const std::string_view block = file.substr(begin + kHeaderBytes);
  if (counts.types == 0 || block.size() < counts.bytes(8)) return refuse("it is cut short");
  auto data = std::make_shared<Data>();
  if (!data->read_block(block, counts)) return refuse("its changes are not in order");
  std::string_view footer = block.substr(counts.bytes(8));
  if (footer.starts_with('\n') && footer.ends_with('\n') && footer.size() > 2) {
    data->rule = ZoneRule::parse(footer.substr(1, footer.size() - 2));
    if (!data->rule) return refuse("its last rule cannot be read");
  }
  return TimeZone(std::move(data));
}

Result<TimeZone> TimeZone::load(std::string_view name) {
  if (name == "UTC") return TimeZone();
  if (const std::optional<seconds> offset = offset_in(name)) {
    auto data = std::make_shared<Data>();
    data->first = *offset;
    return TimeZone(std::move(data));
  }
  const auto refuse = [&](std::string_view why) {
    return fail(
        ErrorCode::kInvalid,
        fmt::format("there is no time zone {}{}; write one as Asia/Shanghai", shown(name), why));
  };
  if (!is_zone_name(name)) return refuse("");
  const auto bytes = read_whole("/usr/share/zoneinfo/" + std::string(name));
  if (!bytes || bytes->empty())
    return refuse(" on this machine (Debian's package tzdata has them)");
  Result<TimeZone> zone = parse(*bytes);
  if (!zone) return refuse(" (" + zone.error().message + ")");
  return zone;
}

Duration TimeZone::offset_at(TimePoint moment) const {
  const auto second = std::chrono::floor<seconds>(moment);
  const auto next = std::ranges::upper_bound(data_->changes, second, {}, &Data::Change::at);
  if (next == data_->changes.end() && data_->rule) return data_->rule->offset_at(second);
  return next == data_->changes.begin() ? data_->first : std::prev(next)->offset;
}

}  // namespace recourse
