// PostgreSQL's protocol 3: a request is everything up to a Sync, or one simple query; a reply ends
// with ReadyForQuery.
#include "proxy/wire.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace proxy {

namespace {

std::size_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8U | static_cast<unsigned char>(bytes[at + i]);
  return out;
}

std::string message(char type, std::string const& body) {
  auto const size = static_cast<std::uint32_t>(body.size() + 4);
  std::string out(1, type);
  for (unsigned shift = 32; shift > 0; shift -= 8) {
    out.push_back(static_cast<char>(size >> (shift - 8) & 0xffU));
  }
  return out + body;
}

/// The text up to a zero byte, `skip` such texts later.
std::string zero_ended(std::string_view body, int skip) {
  for (; skip > 0; --skip) body.remove_prefix(body.find('\0') + 1);
  return std::string(body.substr(0, body.find('\0')));
}

/// The first message of `from`, taken off it.
std::optional<std::string> take_message(std::string& from, std::size_t type_size) {
  if (from.size() < type_size + 4) return std::nullopt;
  auto const size = type_size + number_at(from, type_size);
  if (from.size() < size) return std::nullopt;
  auto out = from.substr(0, size);
  from.erase(0, size);
  return out;
}

class postgres_wire final : public wire {
 public:
  std::optional<reply> next_reply(std::string& from) override {
    auto one = take_message(from, 1);
    if (!one) return std::nullopt;
    bool const ends = one->front() == 'Z';
    return reply{std::move(*one), ends};
  }

  [[nodiscard]] std::string refusal(std::string const& code) const override {
    auto const severity = ends_connection(code) ? std::string("FATAL") : std::string("ERROR");
    std::string const zero(1, '\0');
    auto text = "S" + severity + zero + "V" + severity + zero + "C" + code + zero +
                "Minjected by the proxy" + zero + zero;
    auto out = message('E', text);
    if (!ends_connection(code)) out += message('Z', in_transaction() ? "E" : "I");
    return out;
  }
  [[nodiscard]] bool ends_connection(std::string const& code) const override {
    return code.starts_with("57P");
  }
  [[nodiscard]] std::string rollback() const override {
    return message('Q', std::string("rollback") + '\0');
  }

 protected:
  std::optional<request> take_request(std::string& from) override {
    for (;;) {
      auto const one = take_message(from, started_ ? 1 : 0);
      if (!one) return std::nullopt;
      batch_.bytes += *one;
      if (!std::exchange(started_, true)) return std::exchange(batch_, {});
      look_at(*one);
      bool const goes_on = std::string_view("PBDEC").find(one->front()) != std::string_view::npos;
      if (!goes_on) return std::exchange(batch_, {});
    }
  }

 private:
  void look_at(std::string const& one) {
    auto const body = std::string_view(one).substr(5);
    switch (one.front()) {
      case 'Q': batch_.text += zero_ended(body, 0) + "\n"; break;
      case 'P': texts_[zero_ended(body, 0)] = zero_ended(body, 1); break;
      case 'B': batch_.text += texts_[zero_ended(body, 1)] + "\n"; break;
      default: break;
    }
  }

  bool started_ = false;  ///< the first message has no type
  request batch_;
  std::map<std::string, std::string> texts_;  ///< of prepared statements
};

}  // namespace

std::unique_ptr<wire> make_postgres_wire() { return std::make_unique<postgres_wire>(); }

}  // namespace proxy
