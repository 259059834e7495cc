#include "bench/queue/contestant.hpp"

namespace bench {

contestants peer_contestants(support::engine const&, std::string const&) { return {}; }

}  // namespace bench
