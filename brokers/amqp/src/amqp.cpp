// The two kinds of source.
#include "consumer.hpp"

#include <daybook/names.hpp>

#include <algorithm>
#include <utility>

namespace daybook {
inline namespace v1 {
namespace amqp {

namespace {

/// Two pages of the usual size: while one is committed, the next comes.
constexpr std::uint16_t prefetch = 2000;
/// How long the end of a stream is waited for, message by message.
constexpr std::chrono::milliseconds end_of_stream{250};

class queue_source final : public broker::queue {
 public:
  queue_source(address const& to, connection_options const& options, std::string name)
      : name_(std::move(name)), consumer_(to, options, {.queue = name_, .prefetch = prefetch}) {}

  std::span<broker::message const> take(broker::page_request const& request,
                                        std::stop_token const& stop) override {
    auto all = consumer_.take(request, stop);
    if (!all.empty()) taken_ = all.back().tag;
    page_.replace(std::move(all), name_);
    return page_.views();
  }
  void settle() override {
    if (taken_ != 0) consumer_.acknowledge(std::exchange(taken_, 0));
  }
  void give_back() noexcept override {
    if (taken_ != 0) consumer_.give_back(std::exchange(taken_, 0));
  }

 private:
  std::string name_;
  consumer consumer_;
  delivered_page page_;
  std::uint64_t taken_ = 0;  ///< the last tag that was taken and not settled; 0: none
};

class stream_source final : public broker::log {
 public:
  stream_source(address to, connection_options options, std::string name)
      : to_(std::move(to)), options_(std::move(options)), name_(std::move(name)) {}

  /// AMQP 0-9-1 does not tell: the first message says where it begins, and the last block of
  /// messages where it ends.
  std::vector<broker::log_extent> extents() override {
    broker::log_extent out{name_, 0, 0, 0};
    if (auto const first = offset_at("first", true)) out.first = *first;
    if (auto const last = offset_at("last", false)) out.end = *last + 1;
    out.end = std::max(out.end, out.first);
    return {out};
  }
  std::size_t partitions() override { return 1; }

  void read_from(std::span<broker::log_place const> places) override {
    consumer_.reset();
    if (places.empty()) return;
    next_ = places.front().next;
    consumer_.emplace(to_, options_,
                      consumer_start{name_, prefetch, std::to_string(places.front().next)});
  }

  std::span<broker::message const> take(broker::page_request const& request,
                                        std::stop_token const& stop) override {
    if (!consumer_) {
      throw error({.kind = error_code::bad_argument},
                  "stream '" + name_ + "' is to be read from no place: call read_from() first");
    }
    // It only asks for more: the broker keeps no offset for us.
    if (taken_ != 0) consumer_->acknowledge(std::exchange(taken_, 0));
    auto all = consumer_->take(request, stop);
    if (!all.empty()) taken_ = all.back().tag;
    for (auto const& one : all) check(one);
    std::erase_if(all, [&](delivery const& one) { return one.offset < next_; });
    if (!all.empty()) next_ = all.back().offset + 1;
    page_.replace(std::move(all), name_);
    return page_.views();
  }

  void report(std::span<broker::log_place const> /*places*/) noexcept override {}

 private:
  void check(delivery const& one) const {
    if (one.offset < 0) {
      throw error({.kind = error_code::configuration},
                  "queue '" + name_ + "' is no stream: its messages have no offset");
    }
    // Offsets have no gaps: where they begin later, the messages before are gone.
    if (one.offset > next_ && one.tag == 1) {
      throw error({.kind = error_code::configuration},
                  "stream '" + name_ + "' begins at " + std::to_string(one.offset) +
                      ", and was to be read from " + std::to_string(next_));
    }
  }

  /// The offset of the first message from there, or of the last one.
  std::optional<std::int64_t> offset_at(std::string const& from, bool first) {
    connection here(to_, options_);
    static_cast<void>(here.ready(name_));
    here.consume({name_, prefetch, from});
    std::optional<std::int64_t> out;
    while (auto const one = here.next(end_of_stream)) {
      if (one->offset < 0) check(*one);
      out = one->offset;
      if (first) break;
      here.acknowledge(one->tag);
    }
    return out;
  }

  address to_;
  connection_options options_;
  std::string name_;
  std::optional<consumer> consumer_;
  delivered_page page_;
  std::int64_t next_ = 0;
  std::uint64_t taken_ = 0;
};

void check(std::string_view name, connection_options const& options) {
  check_name("name of a queue or stream", name);
  if (options.heartbeat < std::chrono::seconds{2} || options.heartbeat > std::chrono::minutes{10}) {
    throw error({.kind = error_code::bad_argument},
                "the heartbeat of a broker's connection is from 2 s to 10 min");
  }
}

}  // namespace

broker::queue_factory queue_at(std::string_view url, std::string_view queue,
                               connection_options options) {
  check(queue, options);
  return [to = parse_url(url, options), options,
          name = std::string(queue)]() -> std::unique_ptr<broker::queue> {
    return std::make_unique<queue_source>(to, options, name);
  };
}

broker::log_factory stream_at(std::string_view url, std::string_view stream,
                              connection_options options) {
  check(stream, options);
  return [to = parse_url(url, options), options,
          name = std::string(stream)]() -> std::unique_ptr<broker::log> {
    return std::make_unique<stream_source>(to, options, name);
  };
}

}  // namespace amqp
}  // namespace v1
}  // namespace daybook
