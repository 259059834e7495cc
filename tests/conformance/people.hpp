// Who changes things in tests.
#pragma once

#include <daybook/operate.hpp>

namespace conformance {

inline daybook::audit_note const anna{.actor = "anna", .reason = "a test"};

}  // namespace conformance
