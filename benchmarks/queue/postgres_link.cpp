#include "benchmarks/queue/postgres_link.hpp"

#include <array>
#include <stdexcept>

namespace bench {

namespace {

constexpr std::size_t most_values = 10;

using pointers = std::array<char const*, most_values>;

/// Every value comes from a std::string or a literal, and so ends with a zero byte.
pointers pointers_to(std::initializer_list<std::string_view> values) {
  pointers out{};
  std::size_t at = 0;
  for (auto const& one : values) out.at(at++) = one.data();
  return out;
}

}  // namespace

postgres_link::postgres_link(std::string const& url) : on_(PQconnectdb(url.c_str()), &PQfinish) {
  if (PQstatus(on_.get()) != CONNECTION_OK) fail();
  PQsetNoticeProcessor(
      on_.get(), [](void*, char const*) {}, nullptr);
}

void postgres_link::fail() const { throw std::runtime_error(PQerrorMessage(on_.get())); }

postgres_result postgres_link::good(PGresult* raw) const {
  postgres_result got(raw, &PQclear);
  auto const status = PQresultStatus(got.get());
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    throw std::runtime_error(raw == nullptr ? "no answer" : PQresultErrorMessage(raw));
  }
  return got;
}

void postgres_link::prepare(char const* name, std::string const& text) {
  good(PQprepare(on_.get(), name, text.c_str(), 0, nullptr));
}

postgres_result postgres_link::run(char const* name,
                                   std::initializer_list<std::string_view> values) {
  auto const given = pointers_to(values);
  return good(PQexecPrepared(on_.get(), name, static_cast<int>(values.size()), given.data(),
                             nullptr, nullptr, 1));
}

postgres_result postgres_link::text(std::string const& statement) {
  return good(PQexec(on_.get(), statement.c_str()));
}

void postgres_link::pipeline() {
  if (PQenterPipelineMode(on_.get()) != 1) fail();
}

void postgres_link::send(char const* name, std::initializer_list<std::string_view> values) {
  auto const given = pointers_to(values);
  if (PQsendQueryPrepared(on_.get(), name, static_cast<int>(values.size()), given.data(), nullptr,
                          nullptr, 1) != 1) {
    fail();
  }
}

void postgres_link::sync() {
  if (PQpipelineSync(on_.get()) != 1) fail();
}

postgres_result postgres_link::answer() {
  auto got = good(PQgetResult(on_.get()));
  while (PQgetResult(on_.get()) != nullptr) {
  }
  return got;
}

void postgres_link::end() {
  postgres_result const got(PQgetResult(on_.get()), &PQclear);
  if (PQresultStatus(got.get()) != PGRES_PIPELINE_SYNC) fail();
  if (PQexitPipelineMode(on_.get()) != 1) fail();
}

std::int64_t big(PGresult const* of, int row, int column) {
  auto const* const bytes = reinterpret_cast<unsigned char const*>(PQgetvalue(of, row, column));
  std::uint64_t out = 0;
  for (int at = 0; at < 8; ++at) out = (out << 8U) | bytes[at];
  return static_cast<std::int64_t>(out);
}

std::string_view words(PGresult const* of, int row, int column) {
  return {PQgetvalue(of, row, column), static_cast<std::size_t>(PQgetlength(of, row, column))};
}

}  // namespace bench
