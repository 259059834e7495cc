// The protocol of MariaDB and MySQL: a command is a packet with the number 0 (and its
// continuations); the first packet that comes back decides.
#include "proxy/wire.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace proxy {

namespace {

constexpr std::size_t head = 4;  // three bytes of length, one of number
constexpr std::size_t full = 0xffffff;

constexpr char com_query = 0x03;
constexpr char com_prepare = 0x16;
constexpr char com_execute = 0x17;

std::size_t little(std::string_view bytes, std::size_t at, std::size_t size) {
  std::size_t out = 0;
  for (std::size_t i = size; i > 0; --i) {
    out = out << 8U | static_cast<unsigned char>(bytes[at + i - 1]);
  }
  return out;
}

/// The first packet with its continuations, taken off `from`.
std::optional<std::string> take_packet(std::string& from) {
  std::size_t end = 0;
  for (bool more = true; more;) {
    if (from.size() < end + head) return std::nullopt;
    auto const size = little(from, end, 3);
    more = size == full;
    end += head + size;
    if (from.size() < end) return std::nullopt;
  }
  auto out = from.substr(0, end);
  from.erase(0, end);
  return out;
}

class mysql_wire final : public wire {
 public:
  std::optional<reply> next_reply(std::string& from) override {
    auto one = take_packet(from);
    if (!one) return std::nullopt;
    auto const text = std::exchange(preparing_, {});
    if (!text.empty() && one->size() >= head + 5 && (*one)[head] == 0) {
      texts_[little(*one, head + 1, 4)] = text;
    }
    return reply{std::move(*one), true};
  }

  [[nodiscard]] std::string refusal(std::string const& code) const override {
    auto const number = static_cast<unsigned>(std::stoul(code));
    std::string body{static_cast<char>(0xff), static_cast<char>(number & 0xffU),
                     static_cast<char>(number >> 8U & 0xffU)};
    body += number == 1213 ? "#40001" : "#HY000";
    body += "injected by the proxy";
    return packet(body, 1);
  }
  [[nodiscard]] bool ends_connection(std::string const& code) const override {
    return code == "1053" || code == "1927";
  }
  [[nodiscard]] std::string rollback() const override {
    return packet(std::string(1, com_query) + "rollback", 0);
  }

 protected:
  std::optional<request> take_request(std::string& from) override {
    auto one = take_packet(from);
    if (!one) return std::nullopt;
    request out;
    out.bytes = std::move(*one);
    bool const command = out.bytes[3] == 0 && out.bytes.size() > head;
    if (!command) return out;  // of the handshake
    auto const body = std::string_view(out.bytes).substr(head + 1);
    switch (out.bytes[head]) {
      case com_query: out.text = std::string(body) + "\n"; break;
      case com_prepare: preparing_ = std::string(body); break;
      case com_execute: out.text = texts_[little(body, 0, 4)] + "\n"; break;
      default: break;
    }
    return out;
  }

 private:
  static std::string packet(std::string const& body, char number) {
    auto const size = body.size();
    return std::string{static_cast<char>(size & 0xffU), static_cast<char>(size >> 8U & 0xffU),
                       static_cast<char>(size >> 16U & 0xffU), number} +
           body;
  }

  std::string preparing_;
  std::map<std::size_t, std::string> texts_;  ///< of prepared statements
};

}  // namespace

std::unique_ptr<wire> make_mysql_wire() { return std::make_unique<mysql_wire>(); }

}  // namespace proxy
