// The asynchronous verbs: the blocking ones, on a thread of the book. Nothing is decided here.
#include "core/run/run.hpp"
#include "service/engine.hpp"

#include <daybook/book.hpp>
#include <daybook/run.hpp>

#include <utility>

namespace daybook {
inline namespace v1 {

namespace {

/// Keeps a run in hand, and from being used otherwise, until the verb's work is over.
class claimed {
 public:
  explicit claimed(std::shared_ptr<core::held_run> run) : run_(std::move(run)) { run_->claim(); }
  claimed(claimed const&) = delete;
  claimed& operator=(claimed const&) = delete;
  ~claimed() { run_->turn().end(); }
  [[nodiscard]] std::shared_ptr<core::held_run> const& begin() const noexcept {
    run_->turn().begin();
    return run_;
  }

 private:
  std::shared_ptr<core::held_run> run_;
};

}  // namespace

run::run(std::shared_ptr<core::held_run> held) noexcept : held_(std::move(held)) {}

void run::post(std::shared_ptr<work::completion> completion, std::function<void(run&)> verb) {
  auto& inside = held();
  auto in_use = std::make_shared<claimed>(held_);
  inside.asynchronous().post(std::move(completion),
                             [in_use = std::move(in_use), verb = std::move(verb)] {
                               run self(in_use->begin());
                               verb(self);
                             });
}

pending<step_result<void>> run::record_async(std::string_view name, std::string_view text) {
  return async([name = std::string(name), text = std::string(text)](run& self) {
    return self.record(name, text);
  });
}

pending<step_result<void>> run::set_value_async(std::string_view name, std::string_view text) {
  return async([name = std::string(name), text = std::string(text)](run& self) {
    return self.set_value(name, text);
  });
}

pending<end_result> run::finish_async() && {
  return async([](run& self) { return std::move(self).finish(); });
}

pending<end_result> run::fail_async(std::string_view why) && {
  return async([why = std::string(why)](run& self) { return std::move(self).fail(why); });
}

pending<end_result> run::release_async(std::string_view why) && {
  return async([why = std::string(why)](run& self) { return std::move(self).release(why); });
}

pending<start_result> book::start_async(process const& name, key const& run_key,
                                        start_options options) {
  auto into = std::make_shared<work::answer<start_result>>();
  auto* const engine = engine_.get();
  static_cast<void>(engine->bare());  // in a forked child there are no threads
  engine->asynchronous().post(into, [engine, into = into.get(), name, run_key, options] {
    into->put(engine->runs().start(name, run_key, options));
  });
  return pending<start_result>(std::move(into));
}

}  // namespace v1
}  // namespace daybook
